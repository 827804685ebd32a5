/**
 * Loads an agent program that is not the standard runner: the source of an IIFE. It runs with what
 * this process has, which is the port and nothing else; the kernel judges whatever comes over it.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import { Fault } from "../contracts/fault.ts";
import type { StreamChunk } from "../contracts/model.ts";
import type { Signal } from "../contracts/signal.ts";
import type {
  ContextAnswer,
  ContextBody,
  ContextPressure,
  StartBody,
  TurnEnd,
} from "../contracts/wire_worker.ts";
import { evaluateSource } from "./evaluate_powers.ts";
import type { KernelPorts } from "./kernel_ports.ts";
import type { Program } from "./program.ts";

/** Share of the window that is kept for an answer when the program says nothing else. */
const ANSWER_SHARE = 0.2;

/** What a program says when it makes room: which tags stay, and down to which share of the window. */
export type RoomWish =
  & Partial<Pick<ContextBody, "base" | "append" | "important" | "preserve" | "reserve">>
  & {
    /** Share of the window to come down to. */
    readonly policy?: { readonly share?: number };
  };

/**
 * The conversation's window, in the program's hands: the answer says what the conversation is now.
 */
export interface ContextPort {
  /** Puts a summary, made by a second inference, in place of the oldest exchanges. */
  compact(wish?: RoomWish): Promise<ContextAnswer>;
  /** Puts a note in place of the oldest exchanges. */
  evict(wish?: RoomWish): Promise<ContextAnswer>;
  /** Archives all that is not kept; its number says where. */
  checkpoint(wish?: RoomWish): Promise<ContextAnswer>;
}

/** What a foreign program is handed at each turn. */
export interface ForeignPorts extends KernelPorts {
  readonly limits: StartBody["limits"];
  readonly context: ContextPort;
  /** The conversation as it was when the worker started. */
  readonly conversation: StartBody["conversation"];
  /** Hears signals and changes of the tool table until the turn ends. */
  listen(listener: ForeignListener): void;
}

/** What a foreign program may hear while its turn runs. */
export interface ForeignListener {
  /** SIGCTXPRESSURE comes with how full the window is; nothing is done about it but by the program. */
  signal?(signal: Signal, pressure?: ContextPressure): void;
  chunk?(chunk: StreamChunk): void;
  capsChanged?(): void;
  modelChanged?(contextWindow: number): void;
}

/** What the source must evaluate to. */
export interface ForeignProgram {
  turn(ports: ForeignPorts, message: ChatMessage | undefined): Promise<TurnEnd> | TurnEnd;
}

/**
 * Loads `source`.
 * @throws Fault `invalidInput` when it does not evaluate to `{ turn }`. A turn that throws anything
 * but a fault rejects with `upstream`.
 */
export function loadForeign(
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
