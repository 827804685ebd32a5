/**
 * Why a call is needed, in the words of the model that proposed it: asked beside the conversation by the template
 * `call_review`, before a person is asked. Shown with the question, and read by nothing that decides.
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

/** Answers that are asked for, the first one included. */
const TRIES = 2;
const ANSWER_TOKENS = 600;
/** Characters of the arguments that the model is told again. */
const ARGUMENTS = 20_000;

/** A call that a person is about to be asked about. */
export interface AskedCall {
  readonly tool: string;
  readonly argumentsText: string;
}

/** Why a call is needed; undefined where the model says nothing that fits, or cannot be asked. */
export type ReasonFor = (
  call: AskedCall,
  signal: AbortSignal,
) => Promise<CallReviewV1 | undefined>;

/** Makes it for one process. `conversation` is the kernel's copy, and is not changed. */
export function makeReasonFor(
  { row, conversation, infer }: {
    readonly row: ProcessRow;
    readonly conversation: readonly ChatMessage[];
    readonly infer: InferAside;
  },
): ReasonFor {
  return async ({ tool, argumentsText }, signal) => {
    const { colour, label } = row;
    const said = (content: string): ChatMessage => ({
      role: "user",
      content,
      provenance: { origin: "kernel", colour, label },
    });
    const last = conversation.at(-1);
    // Providers refuse calls that stand without an answer, and these have none yet.
    const before = (last?.toolCalls ?? []).length > 0 ? conversation.slice(0, -1) : conversation;
    const messages = [
      ...before,
      said(
        [
          CALL_REVIEW.ask,
          `The call: ${tool} with ${argumentsText.slice(0, ARGUMENTS)}`,
          `Answer with one JSON value and nothing else, which fits this JSON Schema:\n${CALL_REVIEW.schema}`,
        ].join("\n\n"),
      ),
    ];
    try {
      for (let left = TRIES; left > 0; left -= 1) {
        const { message } = await infer(row, { messages, maxTokens: ANSWER_TOKENS }, signal);
        const value = valueIn(message.content);
        const why = value === undefined ? "it is no JSON value" : CALL_REVIEW.misfit(value);
        if (why === undefined) return CallReviewV1.parse(value);
        messages.push(
          { ...message, role: "assistant", toolCalls: [] },
          said(
            `Your answer does not fit the template ${titleOf(CALL_REVIEW)}: ${why.slice(0, 500)}`,
          ),
        );
      }
    } catch (error) {
      // INVARIANT: the question is put with or without reasons (test: "a model that gives no reasons …").
      if (!(error instanceof Fault)) throw error;
    }
    return undefined;
  };
}
