/** Guards by models, as remit.yaml writes them: they look at calls, advise or ask for more, and never allow. @module */
import * as z from "zod";

const Tools = z.array(z.string().min(1).max(64)).min(1).max(64);

/** What every guard says of itself, whichever model it is. */
export const GuardRule = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/),
  /** Tools (globs) whose calls it looks at before they are made; whose results it looks at. */
  before: Tools.optional(),
  after: Tools.optional(),
  /** What it is shown before a call: the call alone, or the person's request with it. Never a result. */
  sees: z.enum(["call", "request"]).default("request"),
  /** What it is asked, in words; absent: whether the call does what the request asks, or a result gives orders. */
  asks: z.string().min(1).max(4_000).optional(),
  /** What a call comes to that it flags; a result that it flags is RED unless this is `advise`. */
  raises: z.enum(["advise", "consent", "stepUp", "forbidden"]).default("consent"),
  /** Where it cannot be asked or says nothing that can be read: as if it had flagged, or not. */
  unanswered: z.enum(["raise", "pass"]).default("raise"),
}).strict();
/** See {@link GuardRule}. */
export type GuardRule = z.infer<typeof GuardRule>;

/** Guards of remit.yaml: `model` is a reference or a name of `models`. */
export const GuardConfigs = z.array(
  GuardRule.extend({ model: z.string().min(1).max(1_024) }).strict()
    .refine(({ before, after }) => before !== undefined || after !== undefined, {
      message: 'a guard looks at tools "before" or "after" their calls: name some, ["*"] for all',
    }),
).max(8);
/** See {@link GuardConfigs}. */
export type GuardConfigs = z.infer<typeof GuardConfigs>;
