/** Tells when a child has nothing left to do but wait for the kernel. docs/decision/0019. @module */
import type { Json } from "../contracts/base/json.ts";
import type { Port, PortHandler } from "../contracts/base/port.ts";

/** What a child is asked and what it asks, counted. */
export interface Quiet {
  /** The same handler; what it has not answered counts as work. */
  serving(handler: PortHandler): PortHandler;
  /** The same port; what waits for the kernel counts as no work. */
  asking(port: Pick<Port, "ask">): Pick<Port, "ask">;
  /**
   * Resolves once what can go on by itself has gone on: `true` when all that is under way waits for
   * the kernel, and every answer has left; `false` when it waits for something of this process.
   */
  settled(): Promise<boolean>;
}

/** Turns of the microtask queue that must pass without work: the port writes an answer in the third. */
const TURNS = 16;
/** Turns after which work is taken to wait for another thread: a call of a plugin, or a step of the loop, takes some dozens. */
const MAX_TURNS = 1_000;

/** Makes the count of one child. */
export function makeQuiet(): Quiet {
  let serving = 0;
  let waiting = 0;

  const served = async (answer: Promise<Json>): Promise<Json> => {
    serving++;
    try {
      return await answer;
    } finally {
      serving--;
    }
  };

  return Object.freeze({
    serving: (handler: PortHandler): PortHandler => ({
      ask(op, body) {
        const answer = handler.ask(op, body);
        return answer instanceof Promise ? served(answer) : answer;
      },
      tell: (op, body) => handler.tell(op, body),
    }),
    asking: (port: Pick<Port, "ask">): Pick<Port, "ask"> => ({
      async ask(op, body): Promise<Json> {
        waiting++;
        try {
          return await port.ask(op, body);
        } finally {
          waiting--;
        }
      },
    }),
    async settled(): Promise<boolean> {
      let quiet = 0;
      for (let turn = 0; turn < MAX_TURNS && quiet < TURNS; turn++) {
        await undefined;
        // INVARIANT: who is served asks one thing at a time, and waits for it alone: equal counts leave none that goes on.
        quiet = serving === waiting ? quiet + 1 : 0;
      }
      return quiet === TURNS;
    },
  });
}
