/**
 * A worker's requests, parsed once at the crossing. TRUST: everything here comes from a process that may be hostile.
 * @module
 */
import { isObject } from "../../../contracts/base/json.ts";
import * as z from "zod";
import { Limits } from "../../../contracts/task/budget.ts";
import { ChatMessage, ToolCall } from "../../../contracts/model/chat.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { Signal } from "../../../contracts/task/signal.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { CapList, TurnEnd } from "../../../contracts/wire/mod.ts";

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

const STOPS = [
  "answered",
  "iterations",
  "cancelled",
  "terminated",
  "contextOverflow",
  "length",
  "budget",
  "upstream",
  "brake",
] as const;

/** The message of a turn in which the model gave neither text nor calls, so that there is no answer. */
const NOTHING = "the model answered with neither words nor calls; ask again, or take another model";

/**
 * Parses the end of a turn of `conversation`. TRUST: a worker may send anything, but cannot claim ends that only the kernel decides.
 * @throws Fault `badFrame`
 */
export function heardTurnEnd(value: Json, conversation: readonly ChatMessage[]): TurnEnd {
  const end = parseTurnEnd(value);
  const empty = end.stop === "answered" && end.text.trim() === "" && isSilent(conversation);
  return empty ? { stop: "upstream", text: NOTHING } : end;
}

/** Origins of user messages that need no answer. */
const BESIDE: ReadonlySet<ChatMessage["provenance"]["origin"]> = new Set([
  ...["file", "tool", "kernel"] as const,
]);

/** Tells whether a person asked and the model has answered without any text or call. */
function isSilent(conversation: readonly ChatMessage[]): boolean {
  const asked = conversation.findLastIndex(({ role, provenance: { origin } }) =>
    role === "user" && !BESIDE.has(origin)
  );
  const origin = conversation[asked]?.provenance.origin;
  // Messages from others need no answer.
  if (origin !== "operator" && origin !== "person") return false;
  const answers = conversation.slice(asked + 1).filter(({ role }) => role === "assistant");
  return conversation.at(-1)?.role === "assistant" &&
    answers.every(({ content, toolCalls = [] }) => content.trim() === "" && toolCalls.length === 0);
}

function parseTurnEnd(value: Json): TurnEnd {
  if (isObject(value)) {
    const { stop, text } = value;
    const known = STOPS.find((each) => each === stop);
    if (known !== undefined && typeof text === "string" && text.length <= 1_000_000) {
      return { stop: known, text };
    }
  }
  throw new Fault("badFrame", "Cannot end the turn: the worker's answer does not parse");
}

/** Draws a process's handles: three different numbers that a worker cannot guess. */
export function drawCaps(powers: Pick<Powers, "token">): CapList {
  const drawn = new Set<number>();
  while (drawn.size < 3) drawn.add(draw(powers));
  const [model = 0, tools = 0, children = 0] = drawn;
  return { model, tools, children };
}

/** Draws a new handle for the model; the old one is void. */
export function redrawModel(powers: Pick<Powers, "token">, held: CapList): CapList {
  for (;;) {
    const model = draw(powers);
    if (!Object.values(held).includes(model)) return { ...held, model };
  }
}

function draw(powers: Pick<Powers, "token">): number {
  return Number.parseInt(powers.token().slice(0, 5), 16) % 1_000_000;
}

// A provider's echo data of a call stays between the provider and the kernel: workers do not see
// it, and a worker's version of it is dropped, because it would return to the provider unredacted.

/** The message as a worker sees and sends it. */
export function withoutEchoes(message: ChatMessage): ChatMessage {
  if (message.toolCalls?.some(({ echo }) => echo !== undefined) !== true) return message;
  return {
    ...message,
    toolCalls: message.toolCalls.map(({ echo: _echo, ...call }) => call),
  };
}
