/** What runs in a worker: the standard loop, or a program of someone else's. @module */
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

/** An agent program, loaded and ready for turns. */
export interface Program {
  /**
   * Runs one turn; without a message it goes on with one that was cut off. `tools`: the turn's, where
   * the kernel sent them along. Rejects with a fault.
   */
  turn(message: ChatMessage | undefined, tools?: ToolSnapshot): Promise<TurnEnd>;
  /** The kernel sent a signal; SIGCTXPRESSURE with its particulars. */
  told(signal: Signal, pressure?: ContextPressure): void;
  /** A piece of the response that is being decoded. */
  chunk(chunk: StreamChunk): void;
  /** It has another model, for conversations of so many tokens. */
  modelChanged(contextWindow: number): void;
  /** The tools that may be called are others now. */
  capsChanged(): void;
}

// What a program in a worker may ask of the kernel: the wire's ops as typed functions.

/** The ops of a worker. Each rejects with the kernel's fault. */
export interface KernelPorts {
  advertise(): Promise<AdvertiseAnswer>;
  infer(body: Omit<InferBody, "cap">): Promise<InferAnswer>;
  /** Makes room in the conversation; what gives way is archived. */
  makeRoom(body: Omit<ContextBody, "cap">): Promise<ContextAnswer>;
  call(snapshot: string, call: ToolCall): Promise<CallAnswer>;
  spawn(body: Omit<SpawnBody, "cap">): Promise<SpawnAnswer>;
  wait(pid: number): Promise<WaitAnswer>;
  kill(pid: number, signal: KillBody["signal"]): Promise<void>;
}

/** Makes the typed ops over a port, each with the number that the kernel handed over for it last. */
export function makeKernelPorts(port: Pick<Port, "ask">, held: () => CapList): KernelPorts {
  const ask = async <Answer>(op: string, body: object): Promise<Answer> =>
    // TRUST: the kernel's answers; it is what gave this process everything it has.
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
