/** Schema of a scenario file. Its keys are described in mod.ts. Used by open.ts and scenario.ts. @module */
import * as z from "zod";
import { FAULT_CODES } from "../../contracts/base/fault.ts";
import { CallId } from "../../contracts/authority/ids.ts";
import { FinishReason, TokenUsage } from "../../contracts/model/model.ts";
import { Outcome } from "../../contracts/tool/tool.ts";

const text = z.string().max(200_000);
const name = z.string().min(1).max(128);

/** Conditions on a text, all of which must hold. A plain string means `contains`. */
export const TextMatch = z.union([
  text,
  z.object({
    contains: z.union([text, z.array(text).min(1).max(64)]).optional(),
    equals: text.optional(),
    startsWith: text.optional(),
    lacks: z.union([text, z.array(text).min(1).max(64)]).optional(),
  }).strict(),
]);
export type TextMatch = z.infer<typeof TextMatch>;

/** A number, or a range with both ends included. */
export const Nth = z.union([
  z.int().min(1).max(1e6),
  z.object({ from: z.int().min(1).max(1e6).optional(), to: z.int().min(1).max(1e6).optional() })
    .strict(),
]);
export type Nth = z.infer<typeof Nth>;

/** Conditions of a turn, all of which must hold. */
export const When = z.object({
  always: z.literal(true).optional(),
  user: TextMatch.optional(),
  system: TextMatch.optional(),
  result: z.object({
    tool: name.optional(),
    outcome: z.union([Outcome, z.array(Outcome).min(1)]).optional(),
    text: TextMatch.optional(),
  }).strict().optional(),
  message: Nth.optional(),
  step: Nth.optional(),
  inference: Nth.optional(),
  offered: z.array(name).min(1).max(64).optional(),
  notOffered: z.array(name).min(1).max(64).optional(),
}).strict().refine((when) => Object.keys(when).length > 0, {
  message: "give a condition, or `always: true`",
});
export type When = z.infer<typeof When>;

/** A proposed call: `args`, or `raw` text for malformed arguments. */
const ScriptedCall = z.object({
  tool: name,
  args: z.record(z.string().max(256), z.json()).optional(),
  raw: text.optional(),
  id: CallId.optional(),
}).strict().refine((call) => call.args === undefined || call.raw === undefined, {
  message: "give `args` or `raw`, not both",
});
export type ScriptedCall = z.infer<typeof ScriptedCall>;

/** How text is streamed. */
export const Stream = z.object({
  /** Characters per chunk. */
  chunkChars: z.int().min(1).max(65_536).optional(),
  /** Milliseconds before each chunk. */
  delayMs: z.int().min(0).max(60_000).optional(),
  /** Milliseconds before the first chunk. */
  firstMs: z.int().min(0).max(600_000).optional(),
}).strict();
export type Stream = z.infer<typeof Stream>;

/** One response of the model. */
export const ScriptedTurn = z.object({
  name: name.optional(),
  when: When.optional(),
  say: text.optional(),
  whole: z.literal(true).optional(),
  rationale: text.optional(),
  calls: z.array(ScriptedCall).min(1).max(64).optional(),
  loop: z.literal(true).optional(),
  hang: z.literal(true).optional(),
  error: z.object({
    code: z.enum(FAULT_CODES),
    message: z.string().min(1).max(2_048),
    times: z.int().min(1).max(1e6).optional(),
  }).strict().optional(),
  usage: TokenUsage.optional(),
  finish: FinishReason.optional(),
  stream: Stream.optional(),
}).strict().check((context) => {
  const turn = context.value;
  const wrong = (message: string): void => {
    context.issues.push({ code: "custom", message, input: turn, path: [] });
  };
  if (turn.loop !== undefined && turn.when !== undefined) {
    wrong("give `loop` or `when`, not both: a turn with `when` repeats as long as it holds");
  }
  if (turn.hang !== undefined && turn.error !== undefined) {
    wrong("give `hang` or `error`, not both");
  }
  const does = [turn.say, turn.rationale, turn.calls, turn.error, turn.hang];
  if (does.every((each) => each === undefined)) {
    wrong("a turn does something: `say`, `calls`, `error` or `hang`");
  }
});
export type ScriptedTurn = z.infer<typeof ScriptedTurn>;

export const Scenario = z.object({
  scenario: name,
  model: z.object({
    displayName: z.string().min(1).max(256).optional(),
    contextTokens: z.int().min(1).max(100_000_000).optional(),
    outputTokens: z.int().min(1).max(10_000_000).optional(),
    remote: z.boolean().optional(),
    supportsTools: z.boolean().optional(),
    price: z.object({ input: z.number().min(0), output: z.number().min(0) }).strict().optional(),
  }).strict().optional(),
  stream: Stream.optional(),
  turns: z.array(ScriptedTurn).min(1).max(1_000),
}).strict();
export type Scenario = z.infer<typeof Scenario>;
