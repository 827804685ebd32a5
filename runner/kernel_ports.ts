/** What a program in a worker may ask of the kernel: the wire's ops as typed functions. @module */
import type { ToolCall } from "../contracts/chat.ts";
import type { Json } from "../contracts/json.ts";
import type { Port } from "../contracts/port.ts";
import type {
  AdvertiseAnswer,
  AdvertiseBody,
  CallAnswer,
  CallBody,
  CapList,
  ContextAnswer,
  ContextBody,
  InferAnswer,
  InferBody,
  KillBody,
  SpawnAnswer,
  SpawnBody,
  WaitAnswer,
  WaitBody,
} from "../contracts/wire_worker.ts";

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
