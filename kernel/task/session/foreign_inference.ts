/**
 * Inferences that a foreign agent makes by itself at its provider. Each is judged by label, paced,
 * held and booked like the task's own before the agent's relay lets it through. Its text is not
 * logged, because it belongs to the agent like other input of a program. Used by
 * kernel/task/models.ts.
 * @module
 */
import { mixLabel } from "../../../contracts/authority/colour.ts";
import type { Label } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { isLoopback } from "../../../contracts/base/loopback.ts";
import type { ModelInfo } from "../../../contracts/model/model.ts";
import { DEAREST, type Price } from "../../../contracts/model/model_config.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import type {
  ForeignAgent,
  RelayInference,
  RelayUsage,
} from "../../../contracts/tool/foreign_agent.ts";
import { governed, type GovernParts } from "../../power/model/governed_model.ts";
import { type HeldRequest, makeModelCost, priceOf } from "../../power/model/money.ts";
import type { OpenModel } from "../../power/model/services.ts";
import type { LetThrough } from "../../power/command/run.ts";
import type { AsideParts } from "./aside.ts";
import { cachedOf } from "./settle_inference.ts";
import type { JudgedModel } from "./process_model.ts";

/** The kernel's parts for a foreign agent's inferences. */
export interface ForeignInferenceParts
  extends
    Pick<AsideParts, "processes" | "brake" | "money" | "paid" | "exhausted">,
    Pick<GovernParts, "rates" | "log" | "powers" | "egress"> {
  /** Why a process may not use a model now; undefined where it may. */
  modelRefused(row: ProcessRow, model: JudgedModel): string | undefined;
}

/** The run that infers. */
export interface ForeignRun {
  readonly row: ProcessRow;
  readonly agent: Pick<ForeignAgent, "name">;
  readonly provider: NonNullable<ForeignAgent["provider"]>;
  /** The label of everything that the agent was shown. */
  label(): Label;
}

/** Permits one inference of a run at a time; rejects with `refused`, `budgetExhausted`, `needsApproval`, `cancelled`. */
export type InferForeign = (asked: RelayInference, signal: AbortSignal) => Promise<LetThrough>;

/** A window without a bound: the provider enforces its own. */
const WINDOW = 100_000_000;

/** Makes the function for one run. */
export function makeForeignInference(
  parts: ForeignInferenceParts,
  run: ForeignRun,
): InferForeign {
  const { row } = run;
  return async (asked, signal) => {
    const { model, judged } = modelOf(run, asked);
    const cost = makeModelCost(model.info.price);
    // The agent's requests carry everything that it was shown.
    const seen = (): ProcessRow => ({ ...row, label: mixLabel(row.label, run.label()) });
    const { input } = asked;
    const refused = (): string | undefined => parts.modelRefused(seen(), judged);
    const checkLimits = (): void => {
      const charge = { inputTokens: input, money: cost.ofInput(input) };
      const over = parts.processes.wouldExceed(row.pid, charge);
      if (over === undefined) return;
      parts.exhausted(row, over);
      throw new Fault("budgetExhausted", `Cannot infer: the task's limit "${over}" is used up`);
    };
    const why = refused();
    if (why !== undefined) throw new Fault("refused", `Cannot infer: ${why}`);
    checkLimits();
    const unreserve = await parts.brake(row, cost.likely(input, asked.maxTokens));
    if (unreserve === undefined) {
      throw new Fault("budgetExhausted", "Cannot infer: it spends too fast", {
        detail: { brake: true },
      });
    }
    const started = Promise.withResolvers<number>();
    const ended = Promise.withResolvers<RelayUsage | "lost" | undefined>();
    const nonce = parts.powers.token();
    const open: OpenModel = {
      ...model,
      async infer({ maxTokens }) {
        started.resolve(maxTokens);
        const used = await ended.promise;
        if (used === undefined) throw new Fault("upstream", "Cannot infer: no answer came");
        return {
          message: { role: "assistant", content: "", provenance: { origin: "model", ...blank } },
          usage: used === "lost"
            ? { inputTokens: input, outputTokens: asked.whole === true ? maxTokens : 0 }
            : usageOf(used),
          ...{ finishReason: "stop" },
        };
      },
    };
    const work = async (): Promise<void> => {
      let held: HeldRequest | undefined;
      try {
        const request = { messages: [], tools: [], maxTokens: asked.maxTokens, nonce };
        held = await parts.money.hold(row.pid, request, {
          ...{ info: model.info, input, signal, recheck: checkLimits },
        });
        const way = governed(open, { ...parts, row: seen(), modelRefused: refused });
        const { usage } = await way.infer(held.request, {
          ...{ onChunk: () => undefined, signal },
          ...{ use: "aside", size: { bytes: asked.bytes, tokens: input } },
        });
        const money = cost.of(usage);
        const { inputTokens, outputTokens } = usage;
        // Usage beyond a limit is booked whole; the next inference is refused.
        parts.processes.settle(row.pid, { inputTokens, outputTokens, money });
        parts.paid(money, row);
        await parts.log.append(row.task, [{
          kind: "inferred",
          body: {
            ...{ pid: row.pid, turn: row.turn, model: model.info.id, backend: model.info.backend },
            ...{ nonce, inputTokens, outputTokens, ...cachedOf(usage), money },
            ...{ finish: "stop", aside: true, foreign: run.agent.name },
          },
        }]);
      } finally {
        held?.release();
        unreserve();
      }
    };
    const done = work();
    done.catch(started.reject);
    const maxTokens = await started.promise;
    // Once the inference has started, a failure is the provider's, and is logged.
    const booked = done.catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
    });
    return { maxTokens, ended: ended.resolve, booked };
  };
}

const blank = { colour: "RED", label: "public" } as const;

function usageOf({ input, output, cacheRead, cacheWrite }: RelayUsage): {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
} {
  return {
    ...{ inputTokens: input, outputTokens: output },
    ...{ cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite },
  };
}

/** A provider's model in the kernel's terms. The price is decided here, not by the agent. */
function modelOf(
  { agent, provider }: ForeignRun,
  asked: Pick<RelayInference, "model">,
): {
  readonly model: Pick<OpenModel, "info" | "plan" | "embed" | "release">;
  readonly judged: JudgedModel;
} {
  const { hostname, host } = new URL(provider.origin);
  const remote = !isLoopback(hostname);
  // TRUST: an agent names its model; only plain characters of such names reach the log.
  const name = /^[\w.:/@-]{1,128}$/.test(asked.model) ? asked.model : "unnamed";
  const priced = provider.model === undefined || name === provider.model ||
    name.startsWith(`${provider.model}-20`);
  const given: Price | undefined = priced ? provider.price : provider.price && DEAREST;
  const kind = provider.wire === "anthropic" ? "anthropic" : "remote";
  const plan = {
    ...(remote ? { host } : {}),
    ...(given === undefined ? {} : { price: given }),
    noWait: false,
  };
  const open = { kind, ref: "", config: "" };
  // A model on this machine costs nothing, unless the operator gave a price.
  const price = given === undefined ? priceOf({ ...plan, open }) : priceOf({ ...plan, open, host });
  const info: ModelInfo = {
    ...{ id: `${agent.name}:${name}`, displayName: name, arch: "", backend: provider.wire, remote },
    ...{ contextTokens: WINDOW, outputTokens: 10_000_000, supportsTools: true },
    ...(price === undefined ? {} : { price }),
  };
  return {
    model: {
      ...{ info, plan, release: () => undefined },
      embed: () => Promise.reject(new Fault("refused", "Cannot embed: an agent of others infers")),
    },
    judged: { ref: info.id, remote, ...(remote ? { host } : {}) },
  };
}
