/** Model guards of remit.yaml: they check calls, advise or demand consent, and never allow. @module */
import * as z from "zod";

const Tools = z.array(z.string().min(1).max(64)).min(1).max(64);

/** Settings of a guard, apart from its model. */
export const GuardRule = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/),
  /** Globs of tools whose calls (`before`) or results (`after`) the guard checks. */
  before: Tools.optional(),
  after: Tools.optional(),
  /** What the guard sees before a call: the call alone, or also the person's request. Never a result. */
  sees: z.enum(["call", "request"]).default("request"),
  /** The guard's question; default: whether the call does what was requested, or whether a result gives orders. */
  asks: z.string().min(1).max(4_000).optional(),
  /** Effect of a flag on a call; a flagged result becomes RED unless this is `advise`. */
  raises: z.enum(["advise", "consent", "stepUp", "forbidden"]).default("consent"),
  /** Whether a missing or unreadable answer counts as a flag. */
  unanswered: z.enum(["raise", "pass"]).default("raise"),
}).strict();
export type GuardRule = z.infer<typeof GuardRule>;

/** Guards of remit.yaml: `model` is a reference or a name of `models`. */
export const GuardConfigs = z.array(
  GuardRule.extend({ model: z.string().min(1).max(1_024) }).strict()
    .refine(({ before, after }) => before !== undefined || after !== undefined, {
      message: 'a guard looks at tools "before" or "after" their calls: name some, ["*"] for all',
    }),
).max(8);
export type GuardConfigs = z.infer<typeof GuardConfigs>;
