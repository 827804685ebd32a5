/** Tracks by events whether a watched task rests, without waiting for time to pass. @module */
import type { Json } from "../../contracts/base/mod.ts";
import { recordOf } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";

/** The state of a watched task. */
export interface Resting {
  /** Whether the task does nothing more by itself. */
  now(): boolean;
  /** Call before giving the task something to do. */
  begins(): void;
  /** Number of events received. */
  count(): number;
  /** Resolves once more than `count` events were received. */
  next(count: number): Promise<void>;
  rested(): Promise<void>;
}

/** Tracks the task that is watched on `link`. */
export function makeResting(link: Pick<KernelLink, "onTell" | "closed">): Resting {
  let rests = false;
  let status = "open";
  let count = 0;
  let wake = (): void => undefined;
  link.onTell((_op: string, body: Json) => {
    const event = recordOf(body);
    if (event["event"] === "message") rests = false;
    if (event["event"] === "taskStatus") {
      const before = status;
      status = String(recordOf(event["body"])["status"]);
      // "open" after a question means that the task goes on; after a turn, that it rests.
      rests = before !== "needsApproval" || status !== "open";
    }
    count += 1;
    wake();
  });
  const next = async (known: number): Promise<void> => {
    if (count > known) return;
    await new Promise<void>((resolve, reject) => {
      wake = resolve;
      link.closed.then(reject);
    });
  };
  return Object.freeze<Resting>({
    now: () => rests,
    begins: () => {
      rests = false;
    },
    count: () => count,
    next,
    async rested(): Promise<void> {
      while (!rests) await next(count);
    },
  });
}
