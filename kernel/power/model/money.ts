/**
 * Money held for running requests until they are paid, so that concurrent requests together respect one limit.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Pid } from "../../../contracts/authority/ids.ts";
import type { InferenceRequest, ModelInfo, TokenUsage } from "../../../contracts/model/model.ts";
import { DEAREST, type Price } from "../../../contracts/model/model_config.ts";
import { estimateTokens, estimateToolTokens } from "../../../contracts/model/tokens.ts";
import type { ProcessTable } from "../../core/process/table.ts";
import type { ModelPlan } from "./model_plan.ts";
import type { Account } from "./accounts.ts";

/** A request with held money. */
export interface HeldRequest {
  /** The request, its answer limited to the remaining money. */
  readonly request: InferenceRequest;
  /** Called once the cost was booked, or nothing was sent. */
  release(): void;
}

/** Options of a hold. */
interface HoldOptions {
  readonly info: Pick<ModelInfo, "price">;
  /** Tokens of the input, tools included, in the model's count; absent: estimated. */
  readonly input?: number;
  readonly signal: AbortSignal;
  /** Called after a wait: throws when the request no longer fits its limits. */
  recheck(): void;
}

/** The money of running requests. */
export interface ModelMoney {
  /**
   * Holds the possible cost of a request, for its process and its ancestors. While other requests
   * hold so much that not even a usual answer fits, it waits for them, because a cut answer would
   * be paid for nothing. Rejects with `cancelled`, and with `recheck`'s fault.
   */
  hold(pid: Pid, request: InferenceRequest, options: HoldOptions): Promise<HeldRequest>;
}

/** Makes the money of a process table, without any hold yet. `accountOf`: a process's account in standing budgets. */
export function makeModelMoney(
  processes: Pick<ProcessTable, "get">,
  accountOf?: (pid: Pid) => Account | undefined,
): ModelMoney {
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
      // Rounding leaves tiny rests.
      if (sum > 1e-12) held.set(pid, sum);
      else held.delete(pid);
    }
  };
  const nextFreed = async (signal: AbortSignal, account: Account | undefined): Promise<void> => {
    const cancelled = Promise.withResolvers<never>();
    const cancel = (): void =>
      cancelled.reject(new Fault("cancelled", "Cannot infer: cancelled while it waited for money"));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const others = account === undefined ? [] : [account.freed()];
      await Promise.race([freed.promise, cancelled.promise, ...others]);
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
      const account = accountOf?.(pid);
      for (;;) {
        await account?.refresh();
        const available = Math.min(left(pids), account?.left() ?? Infinity);
        const fitting = affordable(request, { price }, available, input);
        const busy = account?.busy() === true || pids.some((each) => held.has(each));
        if (fitting.maxTokens < usual && busy) {
          await nextFreed(signal, account);
          recheck();
          continue;
        }
        const cost = makeModelCost(price);
        account?.check(cost.ofInput(input));
        let money = cost.ofInput(input) +
          cost.of({ inputTokens: 0, outputTokens: fitting.maxTokens });
        // INVARIANT: no await between reading the sums and this, so that concurrent requests count together.
        add(pids, money);
        const letGo = (): void => {
          add(pids, -money);
          money = 0;
          freed.resolve();
          freed = Promise.withResolvers();
        };
        // An answer of a single token needs only the input's cost, like without other kernels.
        const need = fitting.maxTokens > 1 ? money : cost.ofInput(input);
        let release: (() => void) | undefined;
        try {
          release = await account?.hold(money, need);
        } catch (error) {
          letGo();
          throw error;
        }
        if (account !== undefined && release === undefined) {
          // Another kernel was first: cut again by the new rest, or wait.
          letGo();
          recheck();
          continue;
        }
        return {
          request: fitting,
          release(): void {
            release?.();
            letGo();
          },
        };
      }
    },
  });
}

/**
 * Limits a request's answer to the tokens that `money` (US dollars) pays for beside the input
 * (`input` tokens, tools included; absent: estimated); at least 1, so that a limit is exceeded only
 * by rounding and by the error of the input's estimate.
 */
export function affordable(
  request: InferenceRequest,
  { price }: Pick<ModelInfo, "price">,
  money: number,
  input: number = inputTokens(request),
): InferenceRequest {
  if (price === undefined) return request;
  const { maxTokens } = request;
  const fitting = makeModelCost(price).mostOutput(input, { maxTokens, money });
  return { ...request, maxTokens: fitting };
}

/** Estimated input tokens of a request, tools included. */
export function inputTokens({ messages, tools }: InferenceRequest): number {
  return estimateTokens(messages) + estimateToolTokens(tools);
}

// The cost of inferences in US dollars: by the operator's price, never by a service's claim. Local
// models cost nothing; a provider without a price costs like the dearest. Cached input costs the
// operator's price for it, or Anthropic's factors; with other providers the full price, so that
// budgets err towards stopping.

/** Tokens of a usual answer in a tool loop: the expected cost of a running request. */
export const USUAL_OUTPUT = 512;

/** Anthropic's factors on the input price, for reading from and writing to its prompt cache. */
const CACHE_READ = 0.1, CACHE_WRITE = 1.25;

/** The applied price; undefined where no text leaves this machine (a replay sends none). */
export function priceOf(
  { host, price = DEAREST, open: { kind } }: Pick<ModelPlan, "host" | "price" | "open">,
): Price | undefined {
  if (host === undefined) return undefined;
  if (kind !== "anthropic") return price;
  const { input } = price;
  return { cacheRead: input * CACHE_READ, cacheWrite: input * CACHE_WRITE, ...price };
}

/** The costs of one model's inferences. */
export interface ModelCost {
  /** Possible cost of a request's input. Refuse the request where it does not fit the budget. */
  ofInput(input: number): number;
  /** Probable cost of a request, counted while it runs, so that concurrent requests count together. */
  likely(input: number, maxTokens: number): number;
  of(usage: TokenUsage): number;
  /**
   * Output tokens that `money` pays for beside the input, at most `maxTokens` and at least 1: a
   * budget is then exceeded only by rounding.
   */
  mostOutput(input: number, { maxTokens, money }: {
    readonly maxTokens: number;
    readonly money: number;
  }): number;
  /** The counted usage: the estimate, where a paid provider reports none. */
  counted(usage: TokenUsage, estimate: TokenUsage): TokenUsage;
}

/** Makes the costs for a price; undefined: free. */
export function makeModelCost(price: Price | undefined): ModelCost {
  const { input: perInput, output: perOutput } = price ?? { input: 0, output: 0 };
  const { cacheRead: perRead = perInput, cacheWrite: perWrite = perInput } = price ?? {};
  // Before the request, assume that nothing is cached and everything will be written to the cache.
  const perUnread = Math.max(perInput, perWrite);
  const cost = (input: number, output: number): number =>
    (input * perUnread + output * perOutput) / 1e6;

  return Object.freeze<ModelCost>({
    ofInput: (input) => cost(input, 0),
    likely: (input, maxTokens) => cost(input, Math.min(maxTokens, USUAL_OUTPUT)),
    of({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }): number {
      // TRUST: from the provider, which may report more cached tokens than input tokens.
      const read = Math.min(cacheReadTokens, inputTokens);
      const written = Math.min(cacheWriteTokens, inputTokens - read);
      const plain = inputTokens - read - written;
      return (plain * perInput + read * perRead + written * perWrite + outputTokens * perOutput) /
        1e6;
    },
    mostOutput(input, { maxTokens, money }): number {
      if (perOutput === 0) return maxTokens;
      const left = (money - cost(input, 0)) * 1e6 / perOutput;
      return Math.max(1, Math.min(maxTokens, Math.floor(left)));
    },
    counted(usage, estimate): TokenUsage {
      // TRUST: a server that reports no usage would otherwise be free.
      if (price === undefined) return usage;
      return {
        ...usage,
        inputTokens: usage.inputTokens || estimate.inputTokens,
        outputTokens: usage.outputTokens || estimate.outputTokens,
      };
    },
  });
}
