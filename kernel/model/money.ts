/**
 * Money of requests under way, held back until they are paid: several at once keep one limit together.
 * @module
 */
import { Fault, type InferenceRequest, type ModelInfo, type Pid } from "../../contracts/mod.ts";
import { affordable, inputTokens } from "./affordable.ts";
import { makeModelCost, USUAL_OUTPUT } from "./cost.ts";
import type { ProcessTable } from "../process/table.ts";

/** A request that its money is held for. */
export interface HeldRequest {
  /** Its answer is no longer than what was left pays for. */
  readonly request: InferenceRequest;
  /** What it cost was booked, or nothing was sent. */
  release(): void;
}

/** How money is held. */
export interface HoldOptions {
  readonly info: Pick<ModelInfo, "price">;
  /** Tokens of the input, tools included, as the model counts; absent: estimated. */
  readonly input?: number;
  readonly signal: AbortSignal;
  /** After a wait, in which others paid: throws when the request no longer fits its limits. */
  recheck(): void;
}

/** The money of requests under way. */
export interface ModelMoney {
  /**
   * Holds what a request may cost at most, for its process and its ancestors. While others hold so
   * much that not even a usual answer fits, it waits for them: an answer cut short would be paid for
   * nothing. Rejects `cancelled`, and as `recheck` throws.
   */
  hold(pid: Pid, request: InferenceRequest, options: HoldOptions): Promise<HeldRequest>;
}

/** Makes it for the processes of a table: nothing is held. */
export function makeModelMoney(processes: Pick<ProcessTable, "get">): ModelMoney {
  const held = new Map<Pid, number>();
  let freed = Promise.withResolvers<void>();

  const bearers = (pid: Pid): readonly Pid[] => {
    const ppid = processes.get(pid)?.ppid;
    return ppid === undefined ? [pid] : [pid, ...bearers(ppid)];
  };
  /** US dollars that may still be spent; never below 0. */
  const left = (pids: readonly Pid[]): number =>
    pids.reduce((least, pid) => {
      const row = processes.get(pid);
      if (row === undefined) return least;
      return Math.max(
        0,
        Math.min(least, row.limits.money - row.usage.money - (held.get(pid) ?? 0)),
      );
    }, Infinity);
  const add = (pids: readonly Pid[], money: number): void => {
    for (const pid of pids) {
      const sum = (held.get(pid) ?? 0) + money;
      // Sums of fractions come back to almost nothing.
      if (sum > 1e-12) held.set(pid, sum);
      else held.delete(pid);
    }
  };
  const nextFreed = async (signal: AbortSignal): Promise<void> => {
    const cancelled = Promise.withResolvers<never>();
    const cancel = (): void =>
      cancelled.reject(new Fault("cancelled", "Cannot infer: cancelled while it waited for money"));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await Promise.race([freed.promise, cancelled.promise]);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };

  return Object.freeze<ModelMoney>({
    async hold(pid, request, { info, input = inputTokens(request), signal, recheck }) {
      const { price } = info;
      if (price === undefined) return { request, release() {} };
      const usual = Math.min(request.maxTokens, USUAL_OUTPUT);
      const pids = bearers(pid);
      for (;;) {
        const fitting = affordable(request, { price }, left(pids), input);
        if (fitting.maxTokens < usual && pids.some((each) => held.has(each))) {
          await nextFreed(signal);
          recheck();
          continue;
        }
        const cost = makeModelCost(price);
        let money = cost.ofInput(input) +
          cost.of({ inputTokens: 0, outputTokens: fitting.maxTokens });
        add(pids, money);
        return {
          request: fitting,
          release(): void {
            add(pids, -money);
            money = 0;
            freed.resolve();
            freed = Promise.withResolvers();
          },
        };
      }
    },
  });
}
