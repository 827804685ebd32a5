/** The output of `run --json`, checked as strictly as a program that reads it would. */
import * as z from "zod";

const Sealed = z.object({
  version: z.literal(1),
  events: z.array(z.object({ kind: z.string(), body: z.string(), hash: z.string() })).min(1),
  seals: z.array(z.object({ signature: z.string(), key: z.string() })).min(1),
});

/** The documented shape; unknown keys are errors. */
export const RunDocument = z.object({
  task: z.string(),
  status: z.string(),
  exit: z.number(),
  answer: z.string().optional(),
  reason: z.string().optional(),
  model: z.string(),
  read: z.array(z.string()),
  changes: z.array(
    z.object({ path: z.string(), kind: z.string(), state: z.string(), bytes: z.number() }).strict(),
  ),
  did: z.array(
    z.object({
      tool: z.string(),
      kind: z.enum(["imported", "peer", "network", "command", "other"]),
      effect: z.string(),
      calls: z.number(),
      failed: z.number(),
      open: z.number(),
    }).strict(),
  ),
  refused: z.array(
    z.object({
      tool: z.string(),
      subject: z.string(),
      outcome: z.string(),
      rule: z.string(),
      why: z.string(),
    }).strict(),
  ),
  asked: z.array(
    z.object({ question: z.string(), tool: z.string(), decision: z.string(), by: z.string() })
      .strict(),
  ),
  spent: z.object({
    calls: z.number(),
    turns: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    money: z.number(),
  }).strict(),
  receipts: z.array(Sealed),
  head: z.string().regex(/^[0-9a-f]{64}$/),
}).strict();

export type RunDocument = z.infer<typeof RunDocument>;

/** Parses the standard output of `run --json`; throws for anything but that document. */
export function readRun(stdout: string): RunDocument {
  return RunDocument.parse(JSON.parse(stdout));
}
