/** The worker's side of the port: operations and events from the kernel. Used by main.ts and warm.ts. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import type { Port, PortHandler } from "../contracts/base/port.ts";
import type {
  CapList,
  ContextBody,
  ContextPressure,
  SignalBody,
  StartBody,
  TurnBody,
  TurnEnd,
  WorkerEvents,
} from "../contracts/wire/wire_worker.ts";
import { isForeignProgram, LAL_PROGRAM } from "../contracts/exchange/lal.ts";
import { type KernelPorts, makeKernelPorts, type Program } from "./program.ts";
import { makeLal } from "./lal.ts";
import { makePlanner } from "./planner.ts";
import { PLANNED_PROGRAM } from "../contracts/exchange/planned.ts";
import { makeStandard } from "./standard.ts";
import type { ChatMessage } from "../contracts/model/chat.ts";
import type { StreamChunk } from "../contracts/model/model.ts";
import type { Signal } from "../contracts/task/signal.ts";
import { evaluateSource } from "./evaluate_powers.ts";

/**
 * Makes a worker's port handler. `start` comes once; turns run one after another. Faults:
 * `conflict` for a second start or a turn during a turn, `invalidInput` for a turn before the start
 * or an unknown operation.
 */
export function makeWorker(
  port: Pick<Port, "ask" | "tell">,
): PortHandler & { still(): boolean } {
  let program: Program | undefined;
  let foreign = false;
  let busy = false;
  let caps: CapList = { model: 0, tools: 0, children: 0 };

  // TRUST: bodies come from the kernel, which started this process.
  function start(body: StartBody): null {
    if (program !== undefined) throw new Fault("conflict", "Cannot start: it has been started");
    caps = body.caps;
    const kernel = makeKernelPorts(port, () => caps);
    foreign = isForeignProgram(body.program);
    program = body.program === undefined
      ? makeStandard(kernel, body)
      : body.program === LAL_PROGRAM
      ? makeStandard(kernel, body, makeLal(body.conversation))
      : body.program === PLANNED_PROGRAM
      ? makePlanner(kernel, body)
      : loadForeign(kernel, body, body.program);
    return null;
  }

  async function turn({ message, tools }: TurnBody): Promise<TurnEnd> {
    if (program === undefined) throw new Fault("invalidInput", "Cannot run a turn: not started");
    if (busy) throw new Fault("conflict", "Cannot run a turn: another one is running");
    busy = true;
    try {
      return await program.turn(message, tools);
    } finally {
      busy = false;
    }
  }

  const tellSignal = ({ signal, pressure }: SignalBody): void => program?.told(signal, pressure);

  return Object.freeze({
    // Only foreign programs may use timers.
    still: () => !foreign,
    async ask(op: string, body: Json): Promise<Json> {
      switch (op) {
        case "start":
          return start(body as unknown as StartBody);
        case "ping":
          return null;
        case "turn":
          return await turn(body as unknown as TurnBody) as unknown as Json;
        case "signal":
          tellSignal(body as unknown as SignalBody);
          // Acknowledged before any frame that the program sends knowing of the signal.
          port.tell("heard", null);
          return null;
        default:
          throw new Fault(
            "invalidInput",
            `Cannot serve ${JSON.stringify(op)}: unknown to a worker`,
          );
      }
    },
    tell(op: string, body: Json): void {
      const event = { op, body } as unknown as WorkerEvents;
      switch (event.op) {
        case "signal":
          return tellSignal(event.body);
        case "chunk":
          return program?.chunk(event.body);
        case "capsChanged":
          return program?.capsChanged();
        case "modelChanged":
          caps = { ...caps, model: event.body.model };
          return program?.modelChanged(event.body.contextWindow);
      }
    },
  });
}

// Loads an agent program other than those above: the source text of an IIFE. It runs with this
// process's only power, the port; the kernel judges every frame.

/** Share of the window reserved for an answer when the program does not say. */
const ANSWER_SHARE = 0.2;

/** Options of a compaction: which messages stay, and the target share of the window. */
type RoomOptions =
  & Partial<Pick<ContextBody, "base" | "append" | "important" | "preserve" | "reserve">>
  & {
    /** Target share of the window. */
    readonly policy?: { readonly share?: number };
  };

/** What a foreign program receives at each turn. */
interface ForeignPorts extends KernelPorts {
  readonly limits: StartBody["limits"];
  readonly context: ReturnType<typeof contextPort>;
  /** The conversation as it was when the worker started. */
  readonly conversation: StartBody["conversation"];
  /** Registers for signals and changes of the tool table until the turn ends. */
  listen(listener: ForeignListener): void;
}

/** Events that a foreign program may receive during its turn. */
interface ForeignListener {
  /** SIGCTXPRESSURE carries how full the window is; only the program itself reacts to it. */
  signal?(signal: Signal, pressure?: ContextPressure): void;
  chunk?(chunk: StreamChunk): void;
  capsChanged?(): void;
  modelChanged?(contextWindow: number): void;
}

/** What the source text must evaluate to. */
interface ForeignProgram {
  turn(ports: ForeignPorts, message: ChatMessage | undefined): Promise<TurnEnd> | TurnEnd;
}

/**
 * Loads an agent program from its source text.
 * @throws Fault `invalidInput` when the source does not evaluate to `{ turn }`. A turn that throws
 * anything but a fault rejects with `upstream`.
 */
function loadForeign(
  kernel: KernelPorts,
  { limits, conversation }: Pick<StartBody, "conversation" | "limits">,
  source: string,
): Program {
  const program = evaluate(source);
  let listener: ForeignListener = {};
  const ports: ForeignPorts = Object.freeze({
    ...kernel,
    limits,
    context: contextPort(kernel, limits),
    conversation,
    listen: (next: ForeignListener) => {
      listener = next;
    },
  });
  return Object.freeze<Program>({
    async turn(message): Promise<TurnEnd> {
      listener = {};
      try {
        return turnEnd(await program.turn(ports, message));
      } catch (error) {
        if (error instanceof Fault) throw error;
        throw new Fault("upstream", `Cannot go on: the agent program threw ${nameOf(error)}`, {
          cause: error,
        });
      }
    },
    told: (signal, pressure) => listener.signal?.(signal, pressure),
    chunk: (chunk) => listener.chunk?.(chunk),
    modelChanged: (contextWindow) => listener.modelChanged?.(contextWindow),
    capsChanged: () => listener.capsChanged?.(),
  });
}

/** The program's control over its context window. Each answer holds the new conversation. */
function contextPort(
  kernel: Pick<KernelPorts, "makeRoom">,
  { contextWindow, outputTokens }: StartBody["limits"],
) {
  const reserve = Math.max(1, Math.floor(Math.min(outputTokens, contextWindow * ANSWER_SHARE)));
  const by = (method: ContextBody["method"]) => ({ policy, ...options }: RoomOptions = {}) =>
    kernel.makeRoom({
      reserve,
      ...options,
      ...(policy?.share === undefined ? {} : { share: policy.share }),
      method,
    });
  return Object.freeze({
    /** Replaces the oldest exchanges by a summary, which a second inference writes. */
    compact: by("compact"),
    /** Replaces the oldest exchanges by a note. */
    evict: by("evict"),
    /** Archives everything that is not kept; the answer holds the archive's number. */
    checkpoint: by("checkpoint"),
  });
}

function evaluate(source: string): ForeignProgram {
  let made: unknown;
  try {
    made = evaluateSource(source);
  } catch (error) {
    throw new Fault("invalidInput", `Cannot load agent program: ${nameOf(error)}`, {
      cause: error,
    });
  }
  if (!isProgram(made)) {
    throw new Fault("invalidInput", "Cannot load agent program: it does not evaluate to { turn }");
  }
  return made;
}

function isProgram(value: unknown): value is ForeignProgram {
  return typeof value === "object" && value !== null && "turn" in value &&
    typeof value.turn === "function";
}

function turnEnd(value: unknown): TurnEnd {
  const { stop, text } = Object(value);
  if (typeof stop !== "string" || typeof text !== "string") {
    throw new Fault("upstream", "Cannot end the turn: the agent program gave no { stop, text }");
  }
  // The kernel checks `stop` against its closed list.
  return { stop, text } as TurnEnd;
}

function nameOf(error: unknown): string {
  return String(error).slice(0, 512);
}
