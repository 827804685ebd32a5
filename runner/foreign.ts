/**
 * Loads an agent program that is not the standard runner: the source of an IIFE. It runs with what
 * this process has, which is the port and nothing else; the kernel judges whatever comes over it.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import { Fault } from "../contracts/fault.ts";
import type { StreamChunk } from "../contracts/model.ts";
import type { Signal } from "../contracts/signal.ts";
import type { StartBody, TurnEnd } from "../contracts/wire_worker.ts";
import { evaluateSource } from "./evaluate_powers.ts";
import type { KernelPorts } from "./kernel_ports.ts";
import type { Program } from "./program.ts";

/** What a foreign program is handed at each turn. */
export interface ForeignPorts extends KernelPorts {
  readonly limits: StartBody["limits"];
  /** The conversation as it was when the worker started. */
  readonly conversation: StartBody["conversation"];
  /** Hears signals and changes of the tool table until the turn ends. */
  listen(listener: ForeignListener): void;
}

/** What a foreign program may hear while its turn runs. */
export interface ForeignListener {
  signal?(signal: Signal): void;
  chunk?(chunk: StreamChunk): void;
  capsChanged?(): void;
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
    told: (signal) => listener.signal?.(signal),
    chunk: (chunk) => listener.chunk?.(chunk),
    capsChanged: () => listener.capsChanged?.(),
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
