/** Finds when a child can only wait for the kernel. docs/decision/0019. Used by child_powers.ts. @module */
import type { Json } from "../contracts/base/json.ts";
import type { Port, PortHandler } from "../contracts/base/port.ts";

/** Counts a child's served requests and its own. */
export interface Quiet {
  /** The same handler; its unanswered requests count as work. */
  serving(handler: PortHandler): PortHandler;
  /** The same port; a request to the kernel does not count as work. */
  asking(port: Pick<Port, "ask">): Pick<Port, "ask">;
  /**
   * Resolves when nothing continues by itself: `true` where all work waits for the kernel and every
   * answer was sent, `false` where it waits for something in this process.
   */
  settled(): Promise<boolean>;
}

/** Turns of the microtask queue without work: the port writes an answer in the third. */
const TURNS = 16;
/** Turns after which work counts as waiting for another thread. A plugin's call or a step of the loop takes some dozens. */
const MAX_TURNS = 1_000;

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
        // INVARIANT: a served request sends one request at a time and only waits for it, so with equal counts none continues.
        quiet = serving === waiting ? quiet + 1 : 0;
      }
      return quiet === TURNS;
    },
  });
}
