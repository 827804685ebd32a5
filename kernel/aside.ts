/**
 * An inference beside the conversation: what a plugin asks the task's own model with `model.complete`.
 * Judged by label and budget as every inference is, and part of no conversation.
 * @module
 */
import {
  type ChatMessage,
  type EventLog,
  Fault,
  type InferenceResponse,
  type Powers,
  type ProcessRow,
  toJson,
} from "../contracts/mod.ts";
import { estimateTokens } from "./inference.ts";
import type { OpenModel } from "./model_services.ts";
import type { ProcessTable } from "./process_table.ts";

/** What is asked. */
export interface Aside {
  readonly prompt: string;
  /** Most tokens of the answer. */
  readonly maxTokens: number;
}

/** Asks the model of a process's task. Rejects `refused`, `contextOverflow`, `budgetExhausted`, `cancelled`, `upstream`. */
export type AskAside = (row: ProcessRow, aside: Aside, signal: AbortSignal) => Promise<string>;

/** What {@link makeAside} is handed. */
export interface AsideParts {
  readonly processes: Pick<ProcessTable, "wouldExceed" | "settle">;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "token" | "after">;
  readonly model: OpenModel;
  modelRefused(row: ProcessRow): string | undefined;
  /** US dollars that it cost. */
  paid(money: number): void;
  exhausted(row: ProcessRow, limit: string): void;
}

/** Makes the way to a task's model for its plugins. */
export function makeAside(parts: AsideParts): AskAside {
  const { processes, model, powers } = parts;
  const { price } = model.info;
  const costOf = (input: number, output: number): number =>
    price === undefined ? 0 : (input * price.input + output * price.output) / 1e6;

  return async (row, { prompt, maxTokens }, signal) => {
    const refused = parts.modelRefused(row);
    if (refused !== undefined) throw new Fault("refused", `Cannot infer: ${refused}`);
    const { colour, label } = row;
    const message: ChatMessage = {
      role: "user",
      content: prompt,
      provenance: { origin: "agent", colour, label },
    };
    const input = estimateTokens([message]);
    if (input > Math.min(row.limits.contextWindow, model.info.contextTokens)) {
      throw new Fault("contextOverflow", `Cannot infer: about ${input} tokens do not fit`);
    }
    const money = costOf(input, 0);
    const over = processes.wouldExceed(row.pid, { inputTokens: input, iterations: 1, money });
    if (over !== undefined) {
      parts.exhausted(row, over);
      throw new Fault("budgetExhausted", `Cannot infer: ${over}`);
    }
    const nonce = powers.token();
    const late = new AbortController();
    const disarm = powers.after(row.limits.generationTimeoutMs, () => late.abort());
    try {
      const response = await model.infer(
        { messages: [message], tools: [], maxTokens, nonce },
        { onChunk: () => undefined, signal: AbortSignal.any([signal, late.signal]) },
      );
      await settle(row, { message, response, nonce });
      return response.message.content;
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw new Fault("timedOut", "Cannot finish the inference: its time is up", { cause: error });
    } finally {
      disarm();
    }
  };

  async function settle(
    row: ProcessRow,
    { message, response, nonce }: {
      readonly message: ChatMessage;
      readonly response: InferenceResponse;
      readonly nonce: string;
    },
  ): Promise<void> {
    const { inputTokens, outputTokens } = response.usage;
    const money = costOf(inputTokens, outputTokens);
    // What was used was used: it is booked whole, and the next inference is refused.
    processes.settle(row.pid, { inputTokens, outputTokens, money, iterations: 1 });
    parts.paid(money);
    const { id: modelId, backend } = model.info;
    await parts.log.append(row.task, [{
      kind: "inferred",
      body: {
        ...{ pid: row.pid, turn: row.turn, model: modelId, backend, nonce },
        ...{ inputTokens, outputTokens, money, finish: response.finishReason, aside: true },
      },
      private: { append: [toJson(message)], message: toJson(response.message) },
    }]);
  }
}
