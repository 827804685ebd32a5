/**
 * The model's own reason for a call, asked outside the conversation by the template `call_review`
 * before a person is asked. It is shown with the question, and no decision depends on it.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import {
  CALL_REVIEW,
  CallReviewV1,
  titleOf,
  valueIn,
} from "../../../contracts/task/templates/templates.ts";
import type { InferAside } from "../../power/model/governed_model.ts";

/** Attempts, the first answer included. */
const MAX_ATTEMPTS = 2;
const ANSWER_TOKENS = 600;
/** Characters of the call's arguments in the prompt. */
const MAX_ARGUMENTS = 20_000;

/** A call about which a person will be asked. */
export interface AskedCall {
  readonly tool: string;
  readonly argumentsText: string;
}

/** The model's reason for a call; undefined where no answer fits, or the model cannot be asked. */
export type ReasonFor = (
  call: AskedCall,
  signal: AbortSignal,
) => Promise<CallReviewV1 | undefined>;

/** Makes the function of one process. `conversation` is the kernel's copy and is not changed. */
export function makeReasonFor(
  { row, conversation, infer }: {
    readonly row: ProcessRow;
    readonly conversation: readonly ChatMessage[];
    readonly infer: InferAside;
  },
): ReasonFor {
  return async ({ tool, argumentsText }, signal) => {
    const { colour, label } = row;
    const kernelMessage = (content: string): ChatMessage => ({
      role: "user",
      content,
      provenance: { origin: "kernel", colour, label },
    });
    const last = conversation.at(-1);
    // Providers refuse calls without a result, and the last answer's calls have none yet.
    const before = (last?.toolCalls ?? []).length > 0 ? conversation.slice(0, -1) : conversation;
    const messages = [
      ...before,
      kernelMessage(
        [
          CALL_REVIEW.ask,
          `The call: ${tool} with ${argumentsText.slice(0, MAX_ARGUMENTS)}`,
          `Answer with one JSON value and nothing else, which fits this JSON Schema:\n${CALL_REVIEW.schema}`,
        ].join("\n\n"),
      ),
    ];
    try {
      for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
        const { message } = await infer(row, { messages, maxTokens: ANSWER_TOKENS }, signal);
        const value = valueIn(message.content);
        const why = value === undefined ? "it is no JSON value" : CALL_REVIEW.misfit(value);
        if (why === undefined) return CallReviewV1.parse(value);
        messages.push(
          { ...message, role: "assistant", toolCalls: [] },
          kernelMessage(
            `Your answer does not fit the template ${titleOf(CALL_REVIEW)}: ${why.slice(0, 500)}`,
          ),
        );
      }
    } catch (error) {
      // INVARIANT: the question is asked with or without a reason (test: "a model that gives no reasons …").
      if (!(error instanceof Fault)) throw error;
    }
    return undefined;
  };
}
