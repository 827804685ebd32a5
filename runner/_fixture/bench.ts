import assert from "node:assert/strict";
import { DEFAULT_LIMITS, type Limits } from "../../contracts/task/budget.ts";
import type { ChatMessage, ToolCall } from "../../contracts/model/chat.ts";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { CallId, Digest } from "../../contracts/authority/ids.ts";
import { type Json, toJson } from "../../contracts/base/json.ts";
import type { FinishReason, InferenceResponse } from "../../contracts/model/model.ts";
import type { PortHandler } from "../../contracts/base/port.ts";
import type { Outcome, ToolResult } from "../../contracts/tool/tool.ts";
import type { TurnEnd } from "../../contracts/wire/wire_worker.ts";
import { makePort, type Port } from "../../port/mod.ts";
import { makeWorker } from "../worker.ts";

const PERSON = { origin: "person", colour: "BLUE", label: "internal" } as const;

/** A message. */
export function say(role: ChatMessage["role"], content: string): ChatMessage {
  return { role, content, provenance: PERSON };
}

/** A proposed call. */
export function callOf(id: string, name = "file_read", args = "{}"): ToolCall {
  return { id: CallId.parse(id), name, arguments: args };
}

/** A model's response. */
export function reply(
  content: string,
  calls: readonly ToolCall[] = [],
  finish: FinishReason = calls.length > 0 ? "toolCalls" : "stop",
): InferenceResponse {
  return {
    message: {
      ...say("assistant", content),
      ...(calls.length > 0 ? { toolCalls: [...calls] } : {}),
    },
    usage: { inputTokens: 1, outputTokens: 1 },
    finishReason: finish,
  };
}

/** A tool's result, RED and secret. */
export function resultOf(call: ToolCall, content: string, outcome: Outcome = "ok"): ToolResult {
  return {
    callId: call.id,
    outcome,
    content: outcome === "ok" ? content : "",
    ...(outcome === "ok" ? {} : { error: content }),
    colour: "RED",
    label: "secret",
  };
}

export function fault(code: FaultCode): Fault {
  return new Fault(code, `Cannot: ${code}`);
}

type Move<Value> = Value | Fault | Promise<Value>;

/** A simulated kernel's moves; each gives the kernel's next move. */
export interface Moves {
  readonly infer: (conversation: readonly ChatMessage[], n: number) => Move<InferenceResponse>;
  readonly call?: (call: ToolCall, n: number) => Move<ToolResult>;
  readonly advertise?: (n: number) => Move<{ id: string; tools: Json[] }>;
  readonly limits?: Partial<Limits>;
  readonly conversation?: readonly ChatMessage[];
  readonly instructions?: string[];
  readonly program?: string;
  /** How the context is shortened: the conversation from a position on; absent: not shortened. */
  readonly room?: (
    conversation: readonly ChatMessage[],
    asked: Readonly<Record<string, Json>>,
  ) => { readonly from: number; readonly messages: readonly ChatMessage[] } | Fault;
  /** Other ops, for foreign programs. */
  readonly other?: (op: string, body: Json) => Move<Json>;
}

/** A simulated kernel with its worker at the other end of a port. */
export interface Bench {
  readonly kernel: Port;
  /** The kernel's copy of the conversation. */
  conversation(): readonly ChatMessage[];
  /** Every op that the worker requested, in order. */
  readonly asked: { readonly op: string; readonly body: Json }[];
  start(): Promise<Json>;
  turn(text?: string): Promise<TurnEnd>;
}

/** Handles a worker's ops as the kernel does, strictly. Exported for tests over a real process. */
export function pretendKernel(
  moves: Moves,
): { readonly handler: PortHandler } & Pick<Bench, "conversation" | "asked"> {
  let conversation: readonly ChatMessage[] = moves.conversation ?? [say("system", "be calm")];
  const asked: { op: string; body: Json }[] = [];
  const counts = { infer: 0, call: 0, advertise: 0 };
  let snapshot: string | undefined;
  const now = async <Value>(move: Move<Value>): Promise<Value> => {
    const value = await move;
    if (value instanceof Fault) throw value;
    return value;
  };
  const handler: PortHandler = {
    tell: (op) => assert.equal(op, "heard", "a worker tells nothing but that it heard of a press"),
    async ask(op: string, body: Json): Promise<Json> {
      asked.push({ op, body });
      // The wire's own bodies, as a test reads them.
      const told = body as Readonly<Record<string, Json>>;
      switch (op) {
        case "advertise": {
          assert.equal(told["cap"], 2);
          const answer = await now(
            moves.advertise?.(counts.advertise++) ??
              { id: Digest.parse("a".repeat(64)), tools: [] },
          );
          snapshot = answer.id;
          return toJson(answer);
        }
        case "infer": {
          assert.equal(told["cap"], 1);
          const base = Number(told["base"]);
          assert.ok(base <= conversation.length, "the base is longer than the kernel's copy");
          const more = told["append"] as unknown as readonly ChatMessage[];
          conversation = [...conversation.slice(0, base), ...more];
          const answer = await now(moves.infer(conversation, counts.infer++));
          conversation = [...conversation, answer.message];
          return toJson(answer);
        }
        case "context": {
          assert.equal(told["cap"], 1);
          const base = Number(told["base"] ?? conversation.length);
          const more = (told["append"] ?? []) as unknown as readonly ChatMessage[];
          conversation = [...conversation.slice(0, base), ...more];
          const { from, messages } = await now(
            moves.room?.(conversation, told) ?? { from: conversation.length, messages: [] },
          );
          conversation = [...conversation.slice(0, from), ...messages];
          return toJson({ before: 0, after: 0, from, messages });
        }
        case "call": {
          assert.equal(told["cap"], 2);
          if (snapshot !== undefined && told["snapshot"] !== snapshot) throw fault("unknownTool");
          const call = told["call"] as unknown as ToolCall;
          return toJson(await now(moves.call?.(call, counts.call++) ?? resultOf(call, "done")));
        }
        default:
          return await now(
            moves.other === undefined ? fault("invalidInput") : moves.other(op, body),
          );
      }
    },
  };
  return { handler, asked, conversation: () => conversation };
}

/** The body of `start` for some moves. */
export function startBody({ limits, conversation, program, instructions }: Moves): Json {
  return toJson({
    caps: { model: 1, tools: 2, children: 3 },
    limits: { ...DEFAULT_LIMITS, ...limits },
    conversation: conversation ?? [say("system", "be calm")],
    ...(program === undefined ? {} : { program }),
    ...(instructions === undefined ? {} : { instructions }),
  });
}

/** Sends a turn. */
export async function askTurn(kernel: Port, text: string | undefined): Promise<TurnEnd> {
  const body = text === undefined ? {} : { message: toJson(say("user", text)) };
  return await kernel.ask("turn", body) as unknown as TurnEnd;
}

/** Connects a worker and a simulated kernel by a port in memory. */
export function makeBench(moves: Moves): Bench {
  const { handler, asked, conversation } = pretendKernel(moves);
  const worker: Port = makePort({
    write: (bytes) => kernel.feed(bytes.slice()),
    handler: makeWorker({
      ask: (op, body) => worker.ask(op, body),
      tell: (op, body) => worker.tell(op, body),
    }),
  });
  const kernel: Port = makePort({ write: (bytes) => worker.feed(bytes.slice()), handler });
  return {
    kernel,
    asked,
    conversation,
    start: () => kernel.ask("start", startBody(moves)),
    turn: (text) => askTurn(kernel, text),
  };
}

/** Starts a bench and runs one turn. */
export async function runTurn(moves: Moves, text?: string): Promise<Bench & { end: TurnEnd }> {
  const bench = makeBench(moves);
  await bench.start();
  return { ...bench, end: await bench.turn(text) };
}

/** Runs everything that is ready in memory. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 100; i++) await Promise.resolve();
}

/** Ops without their bodies. */
export function opsOf(bench: Pick<Bench, "asked">): string {
  return bench.asked.map(({ op }) => op).join(" ");
}
