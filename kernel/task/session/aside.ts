/**
 * Inferences outside the conversation: a plugin's questions to the task's model (`model.complete`), summaries and guards.
 * Judged by label and budget like every inference, and part of no conversation.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { InferenceResponse } from "../../../contracts/model/model.ts";
import type { Powers, ProcessRow } from "../../../contracts/task/process.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import { estimateTokens } from "../../../contracts/model/tokens.ts";
import {
  type AskAside,
  type GovernedModel,
  type InferAside,
  makeAnswerTime,
} from "../../power/model/governed_model.ts";
import {
  type HeldRequest,
  makeModelCost,
  type ModelCost,
  type ModelMoney,
} from "../../power/model/money.ts";
import type { ProcessTable } from "../../core/process/table.ts";
import { cachedOf } from "./settle_inference.ts";

/** The process table, log, model and money of inferences outside the conversation. */
export interface AsideParts {
  readonly processes: Pick<ProcessTable, "wouldExceed" | "settle">;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "token" | "after">;
  readonly model: GovernedModel;
  modelRefused(row: ProcessRow): string | undefined;
  /** Reserves a request's probable cost, like {@link InferenceParts}' `brake`. */
  brake(row: ProcessRow, money: number): Promise<(() => void) | undefined>;
  /** Holds the possible cost of running requests. */
  readonly money: ModelMoney;
  /** Books US dollars. */
  paid(money: number, row: ProcessRow): void;
  exhausted(row: ProcessRow, limit: string): void;
}

/** Makes inferences outside the conversation, each with the model that its process uses at that moment. */
export function makeTaskAside(
  parts: Omit<AsideParts, "model"> & { modelOf(row: ProcessRow): GovernedModel },
): InferAside {
  return (row, aside, signal) =>
    makeAsideInference({ ...parts, model: parts.modelOf(row) })(row, aside, signal);
}

/** Makes the plugins' access to their task's model. */
export function makeAside(infer: InferAside): AskAside {
  return async (row, { prompt, maxTokens }, signal) => {
    const { colour, label } = row;
    const message: ChatMessage = {
      role: "user",
      content: prompt,
      provenance: { origin: "agent", colour, label },
    };
    const { message: answer } = await infer(row, { messages: [message], maxTokens }, signal);
    return answer.content;
  };
}

/** Makes inferences outside the conversation. They reject like {@link AskAside}. */
export function makeAsideInference(parts: AsideParts): InferAside {
  const { processes, model, powers } = parts;

  return async (row, { messages, maxTokens, responseSchema, summary = false }, signal) => {
    const cost = makeModelCost(model.info.price);
    const refused = parts.modelRefused(row);
    if (refused !== undefined) throw new Fault("refused", `Cannot infer: ${refused}`);
    const input = estimateTokens(messages);
    if (input > Math.min(row.limits.contextWindow, model.info.contextTokens)) {
      throw new Fault("contextOverflow", `Cannot infer: about ${input} tokens do not fit`);
    }
    const checkLimits = (): void => {
      const money = cost.ofInput(input);
      const over = processes.wouldExceed(row.pid, { inputTokens: input, iterations: 1, money });
      if (over === undefined) return;
      parts.exhausted(row, over);
      throw new Fault("budgetExhausted", `Cannot infer: ${over}`);
    };
    checkLimits();
    const nonce = powers.token();
    const late = new AbortController();
    const { remote, contextTokens: window } = model.info;
    const { generationTimeoutMs: ms } = row.limits;
    const time = makeAnswerTime(powers, { ms, window, remote }, () => late.abort());
    const unreserve = await parts.brake(row, cost.likely(input, maxTokens));
    if (unreserve === undefined) {
      throw new Fault("budgetExhausted", "Cannot infer: it spends too fast", {
        detail: { brake: true },
      });
    }
    let held: HeldRequest | undefined;
    try {
      const request = {
        ...{ messages: [...messages], tools: [], maxTokens, nonce },
        ...(responseSchema === undefined ? {} : { responseSchema }),
      };
      held = await parts.money.hold(row.pid, request, {
        info: model.info,
        signal,
        recheck: checkLimits,
      });
      const response = await model.infer(held.request, {
        onChunk: ({ reading }) => void (reading !== undefined && time.hears(reading)),
        signal: AbortSignal.any([signal, late.signal]),
        use: summary ? "summary" : "aside",
        onEntered: time.start,
      });
      await settle(row, { messages, response, nonce, summary, cost });
      return response;
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw new Fault("timedOut", "Cannot finish the inference: its time is up", { cause: error });
    } finally {
      time.stop();
      held?.release();
      unreserve();
    }
  };

  async function settle(
    row: ProcessRow,
    { messages, response, nonce, summary, cost }: {
      readonly messages: readonly ChatMessage[];
      readonly response: InferenceResponse;
      readonly nonce: string;
      readonly summary: boolean;
      readonly cost: ModelCost;
    },
  ): Promise<void> {
    const usage = cost.counted(response.usage, {
      inputTokens: estimateTokens(messages),
      outputTokens: estimateTokens([response.message]),
    });
    const { inputTokens, outputTokens } = usage;
    const money = cost.of(usage);
    // Usage beyond a limit is booked whole; the next inference is refused.
    processes.settle(row.pid, { inputTokens, outputTokens, money, iterations: 1 });
    parts.paid(money, row);
    const { id: modelId, backend } = model.info;
    await parts.log.append(row.task, [{
      kind: "inferred",
      body: {
        ...{ pid: row.pid, turn: row.turn, model: modelId, backend, nonce },
        ...{ inputTokens, outputTokens, ...cachedOf(usage), money },
        ...{ finish: response.finishReason, aside: true },
        ...(summary ? { summary: true } : {}),
        ...(response.redacted === undefined ? {} : { redactions: response.redacted }),
      },
      private: { append: toJson(messages), message: toJson(response.message) },
    }]);
  }
}
