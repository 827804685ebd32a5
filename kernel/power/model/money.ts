/**
 * Money of requests under way, held back until they are paid: several at once keep one limit together.
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

/** A request that its money is held for. */
export interface HeldRequest {
  /** Its answer is no longer than what was left pays for. */
  readonly request: InferenceRequest;
  /** What it cost was booked, or nothing was sent. */
  release(): void;
}

/** How money is held. */
interface HoldOptions {
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

/** Makes it for the processes of a table: nothing is held. `accountOf`: a process's, in budgets over many tasks. */
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
      // Sums of fractions come back to almost nothing.
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
        const most = Math.min(left(pids), account?.left() ?? Infinity);
        const fitting = affordable(request, { price }, most, input);
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
        // INVARIANT: no await between the look and this: two at once of one process hold together.
        add(pids, money);
        const letGo = (): void => {
          add(pids, -money);
          money = 0;
          freed.resolve();
          freed = Promise.withResolvers();
        };
        // A single token more is let through, as where this kernel is alone.
        const need = fitting.maxTokens > 1 ? money : cost.ofInput(input);
        let release: (() => void) | undefined;
        try {
          release = await account?.hold(money, need);
        } catch (error) {
          letGo();
          throw error;
        }
        if (account !== undefined && release === undefined) {
          // Another kernel was first: with what is left now it is cut anew, or waits.
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
 * The request with at most as many tokens of answer as `money` (US dollars) pays for beside its input
 * (`input` tokens, tools included; absent: estimated); at least 1, so that a limit is passed by no more than rounding and by what the
 * estimate of the input is wrong.
 */
export function affordable(
  request: InferenceRequest,
  { price }: Pick<ModelInfo, "price">,
  money: number,
  input: number = inputTokens(request),
): InferenceRequest {
  if (price === undefined) return request;
  const { maxTokens } = request;
  const most = makeModelCost(price).mostOutput(input, { maxTokens, money });
  return { ...request, maxTokens: most };
}

/** About how many tokens a request sends, tools included. */
export function inputTokens({ messages, tools }: InferenceRequest): number {
  return estimateTokens(messages) + estimateToolTokens(tools);
}

// What an inference costs, in US dollars: by the operator's price, never by what a service says of
// itself. Text that stays on this machine costs nothing; a provider without a price costs as the
// dearest. Input of a prompt cache costs what the operator wrote, or what Anthropic takes for it; of
// any other provider its full price, so that a budget errs towards stopping.

/** Tokens of a usual answer in a tool loop: what a request under way is expected to cost. */
export const USUAL_OUTPUT = 512;

/** Parts of the input's price that Anthropic takes for input that it had kept, and that it keeps now. */
const KEPT_READ = 0.1, KEPT_WRITTEN = 1.25;

/** The price that counts; undefined where no text leaves this machine (a replay sends none). */
export function priceOf(
  { host, price = DEAREST, open: { kind } }: Pick<ModelPlan, "host" | "price" | "open">,
): Price | undefined {
  if (host === undefined) return undefined;
  if (kind !== "anthropic") return price;
  const { input } = price;
  return { cacheRead: input * KEPT_READ, cacheWrite: input * KEPT_WRITTEN, ...price };
}

/** What inferences of one model cost. */
export interface ModelCost {
  /** What a request's input may cost. Refuse it where that does not fit the budget. */
  ofInput(input: number): number;
  /** What it probably costs: counts while it is under way, so that many at once count together. */
  likely(input: number, maxTokens: number): number;
  of(usage: TokenUsage): number;
  /**
   * Most output tokens that `money` pays for beside the input, at most `maxTokens` and at least 1:
   * a budget is then passed by no more than rounding.
   */
  mostOutput(input: number, { maxTokens, money }: {
    readonly maxTokens: number;
    readonly money: number;
  }): number;
  /** What counts as used: where a provider that is paid says nothing, the estimate. */
  counted(usage: TokenUsage, estimate: TokenUsage): TokenUsage;
}

/** Makes the costs of a model of this price; undefined: free. */
export function makeModelCost(price: Price | undefined): ModelCost {
  const { input: perInput, output: perOutput } = price ?? { input: 0, output: 0 };
  const { cacheRead: perRead = perInput, cacheWrite: perWrite = perInput } = price ?? {};
  // Before it is asked, a provider may have kept nothing and keep everything.
  const perUnread = Math.max(perInput, perWrite);
  const cost = (input: number, output: number): number =>
    (input * perUnread + output * perOutput) / 1e6;

  return Object.freeze<ModelCost>({
    ofInput: (input) => cost(input, 0),
    likely: (input, maxTokens) => cost(input, Math.min(maxTokens, USUAL_OUTPUT)),
    of({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }): number {
      // TRUST: from the provider, which may count more of one kind than there was at all.
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
      // TRUST: a server that leaves usage out would otherwise be free.
      if (price === undefined) return usage;
      return {
        ...usage,
        inputTokens: usage.inputTokens || estimate.inputTokens,
        outputTokens: usage.outputTokens || estimate.outputTokens,
      };
    },
  });
}
