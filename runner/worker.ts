/** The worker's side of the port: answers `start` and `turn`, hears events. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import type { Port, PortHandler } from "../contracts/base/port.ts";
import type {
  CapList,
  ContextAnswer,
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
 * Makes the handler of a worker. `start` comes once, turns one after another. Faults: `conflict` for a
 * second start or a turn within a turn, `invalidInput` for a turn before the start or an unknown op.
 */
export function makeWorker(
  port: Pick<Port, "ask" | "tell">,
): PortHandler & { still(): boolean } {
  let program: Program | undefined;
  let foreign = false;
  let busy = false;
  let caps: CapList = { model: 0, tools: 0, children: 0 };

  // TRUST: bodies are the kernel's own; it is trusted by everything that it started.
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
    // Programs of ours have no clock.
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
          // Before anything that is sent in its knowledge.
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

// Loads an agent program that is not the standard runner: the source of an IIFE. It runs with
// what this process has, which is the port and nothing else; the kernel judges every frame.

/** Share of the window that is kept for an answer when the program says nothing else. */
const ANSWER_SHARE = 0.2;

/** What a program says when it makes room: which tags stay, and down to which share of the window. */
type RoomWish =
  & Partial<Pick<ContextBody, "base" | "append" | "important" | "preserve" | "reserve">>
  & {
    /** Share of the window to come down to. */
    readonly policy?: { readonly share?: number };
  };

/**
 * The conversation's window, in the program's hands: the answer says what the conversation is now.
 */
interface ContextPort {
  /** Puts a summary, made by a second inference, in place of the oldest exchanges. */
  compact(wish?: RoomWish): Promise<ContextAnswer>;
  /** Puts a note in place of the oldest exchanges. */
  evict(wish?: RoomWish): Promise<ContextAnswer>;
  /** Archives all that is not kept; its number says where. */
  checkpoint(wish?: RoomWish): Promise<ContextAnswer>;
}

/** What a foreign program is handed at each turn. */
interface ForeignPorts extends KernelPorts {
  readonly limits: StartBody["limits"];
  readonly context: ContextPort;
  /** The conversation as it was when the worker started. */
  readonly conversation: StartBody["conversation"];
  /** Hears signals and changes of the tool table until the turn ends. */
  listen(listener: ForeignListener): void;
}

/** What a foreign program may hear while its turn runs. */
interface ForeignListener {
  /** SIGCTXPRESSURE comes with how full the window is; nothing is done about it but by the program. */
  signal?(signal: Signal, pressure?: ContextPressure): void;
  chunk?(chunk: StreamChunk): void;
  capsChanged?(): void;
  modelChanged?(contextWindow: number): void;
}

/** What the source must evaluate to. */
interface ForeignProgram {
  turn(ports: ForeignPorts, message: ChatMessage | undefined): Promise<TurnEnd> | TurnEnd;
}

/**
 * Loads `source`.
 * @throws Fault `invalidInput` when it does not evaluate to `{ turn }`. A turn that throws anything
 * but a fault rejects with `upstream`.
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

function contextPort(
  kernel: Pick<KernelPorts, "makeRoom">,
  { contextWindow, outputTokens }: StartBody["limits"],
): ContextPort {
  const most = Math.max(1, Math.floor(Math.min(outputTokens, contextWindow * ANSWER_SHARE)));
  const by = (method: ContextBody["method"]) => ({ policy, ...wish }: RoomWish = {}) =>
    kernel.makeRoom({
      reserve: most,
      ...wish,
      ...(policy?.share === undefined ? {} : { share: policy.share }),
      method,
    });
  return Object.freeze<ContextPort>({
    compact: by("compact"),
    evict: by("evict"),
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
  // The kernel checks `stop` against the closed list.
  return { stop, text } as TurnEnd;
}

function nameOf(error: unknown): string {
  return String(error).slice(0, 512);
}
