/**
 * What a worker may ask, parsed once at the crossing. TRUST: everything here comes from a process
 * that may be hostile.
 * @module
 */
import * as z from "zod";
import { ChatMessage, Fault, type Json, Limits, Signal, ToolCall } from "../../contracts/mod.ts";

const cap = z.int().min(0).max(1_000_000);

const WORKER_OPS = {
  advertise: z.object({ cap }).strict(),
  infer: z.object({
    cap,
    base: z.int().min(0).max(100_000),
    append: z.array(ChatMessage).max(10_000),
    maxTokens: z.int().min(1).max(10_000_000),
    responseSchema: z.string().max(65_536).optional(),
  }).strict(),
  context: z.object({
    cap,
    base: z.int().min(0).max(100_000).optional(),
    append: z.array(ChatMessage).max(10_000).optional(),
    method: z.enum(["compact", "evict", "checkpoint"]),
    preserve: z.array(z.enum(["SYSTEM", "USER_INSTRUCTION", "IMPORTANT"])).max(3).optional(),
    important: z.array(z.int().min(0).max(100_000)).max(10_000).optional(),
    share: z.number().min(0.1).max(0.8).optional(),
    reserve: z.int().min(0).max(10_000_000),
  }).strict(),
  call: z.object({ cap, snapshot: z.string().max(64), call: ToolCall }).strict(),
  spawn: z.object({
    cap,
    persona: z.string().max(32_768),
    request: z.string().min(1).max(200_000),
    tools: z.array(z.string().max(64)).max(512),
    limits: Limits.partial(),
  }).strict(),
  wait: z.object({ cap, pid: z.int().min(1) }).strict(),
  kill: z.object({ cap, pid: z.int().min(1), signal: Signal }).strict(),
} as const;

/** A parsed request of a worker: a closed union on `op`. */
export type WorkerRequest = {
  [Op in keyof typeof WORKER_OPS]: {
    readonly op: Op;
    readonly body: z.infer<typeof WORKER_OPS[Op]>;
  };
}[keyof typeof WORKER_OPS];

/** Parses a request. @throws Fault `badFrame` for an op or body that is not in the union. */
export function parseWorkerRequest(op: string, body: Json): WorkerRequest {
  if (!Object.hasOwn(WORKER_OPS, op)) {
    throw new Fault(
      "badFrame",
      `Cannot serve a worker: it asked for ${JSON.stringify(op.slice(0, 64))}`,
    );
  }
  const schema = WORKER_OPS[op as keyof typeof WORKER_OPS];
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Fault(
      "badFrame",
      `Cannot serve "${op}": ${issue?.path.join(".")}: ${issue?.message}`,
    );
  }
  return { op, body: parsed.data } as WorkerRequest;
}
