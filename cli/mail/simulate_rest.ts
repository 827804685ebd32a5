/** Whether a watched task rests, told by its events: nobody waits by the clock. @module */
import type { Json } from "../../contracts/base/mod.ts";
import { recordOf } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";

/** What is known of a task that is watched. */
export interface Resting {
  /** It does nothing more by itself. */
  now(): boolean;
  /** Something was given to it: it goes on. */
  begins(): void;
  /** How many things were told of it. */
  told(): number;
  /** Resolves once more than `told` things were told of it. */
  next(told: number): Promise<void>;
  rested(): Promise<void>;
}

/** Makes it over the link that the task is watched on. */
export function makeResting(link: Pick<KernelLink, "onTell" | "closed">): Resting {
  let rests = false;
  let status = "open";
  let count = 0;
  let wake = (): void => undefined;
  link.onTell((_op: string, body: Json) => {
    const told = recordOf(body);
    if (told["event"] === "message") rests = false;
    if (told["event"] === "taskStatus") {
      const before = status;
      status = String(recordOf(told["body"])["status"]);
      // Open again after a wait: it goes on. Open after a turn: it rests.
      rests = before !== "needsApproval" || status !== "open";
    }
    count += 1;
    wake();
  });
  const next = async (told: number): Promise<void> => {
    if (count > told) return;
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
    told: () => count,
    next,
    async rested(): Promise<void> {
      while (!rests) await next(count);
    },
  });
}
