/** What runs in a worker: the standard loop, or a foreign agent program. @module */
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import type { StreamChunk } from "../contracts/model/model.ts";
import type { Signal } from "../contracts/task/signal.ts";
import type { ToolSnapshot } from "../contracts/tool/tool.ts";
import type {
  AdvertiseAnswer,
  AdvertiseBody,
  CallAnswer,
  CallBody,
  CapList,
  ContextAnswer,
  ContextBody,
  ContextPressure,
  InferAnswer,
  InferBody,
  KillBody,
  SpawnAnswer,
  SpawnBody,
  TurnEnd,
  WaitAnswer,
  WaitBody,
} from "../contracts/wire/wire_worker.ts";
import type { Json } from "../contracts/base/json.ts";
import type { Port } from "../contracts/base/port.ts";

/** An agent program that is loaded and ready for turns. */
export interface Program {
  /**
   * Runs one turn; without a message, continues one that was cut off. `tools`: the turn's tool
   * table, where the kernel sent it along. Rejects with a fault.
   */
  turn(message: ChatMessage | undefined, tools?: ToolSnapshot): Promise<TurnEnd>;
  /** Delivers a signal of the kernel; SIGCTXPRESSURE carries its details. */
  told(signal: Signal, pressure?: ContextPressure): void;
  /** Delivers a chunk of the response that is being decoded. */
  chunk(chunk: StreamChunk): void;
  /** The task has another model, with this context window in tokens. */
  modelChanged(contextWindow: number): void;
  /** The set of tools that may be called has changed. */
  capsChanged(): void;
}

// The operations that a program in a worker may ask of the kernel, as typed functions.

/** The operations of a worker. Each rejects with the kernel's fault. */
export interface KernelPorts {
  advertise(): Promise<AdvertiseAnswer>;
  infer(body: Omit<InferBody, "cap">): Promise<InferAnswer>;
  /** Compacts the conversation; the kernel archives what it removes. */
  makeRoom(body: Omit<ContextBody, "cap">): Promise<ContextAnswer>;
  call(snapshot: string, call: ToolCall): Promise<CallAnswer>;
  spawn(body: Omit<SpawnBody, "cap">): Promise<SpawnAnswer>;
  wait(pid: number): Promise<WaitAnswer>;
  kill(pid: number, signal: KillBody["signal"]): Promise<void>;
}

/** Operations over a port, each with the capability number last handed over for it. */
export function makeKernelPorts(port: Pick<Port, "ask">, held: () => CapList): KernelPorts {
  const ask = async <Answer>(op: string, body: object): Promise<Answer> =>
    // TRUST: the kernel's answers; everything in this process comes from the kernel.
    await port.ask(op, body as Json) as Answer;
  return Object.freeze<KernelPorts>({
    advertise: () => ask("advertise", { cap: held().tools } satisfies AdvertiseBody),
    infer: (body) => ask("infer", { cap: held().model, ...body } satisfies InferBody),
    makeRoom: (body) => ask("context", { cap: held().model, ...body } satisfies ContextBody),
    call: (snapshot, call) => ask("call", { cap: held().tools, snapshot, call } satisfies CallBody),
    spawn: (body) => ask("spawn", { cap: held().children, ...body } satisfies SpawnBody),
    wait: (pid) => ask("wait", { cap: held().children, pid } satisfies WaitBody),
    kill: async (pid, signal) => {
      await ask("kill", { cap: held().children, pid, signal } satisfies KillBody);
    },
  });
}
