/** Settling a finished inference: its message, its cost, its event. @module */
import { defined } from "../../core/process/defined.ts";
import { CallId } from "../../../contracts/authority/ids.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import { type InferenceResponse, TokenUsage } from "../../../contracts/model/model.ts";
import { estimateTokens } from "../../../contracts/model/tokens.ts";
import { asJson } from "../../../port/as_json.ts";
import type { ModelCost } from "../../power/model/money.ts";
import { withoutEchoes } from "../worker/worker_ops.ts";
import type { InferBody, InferenceParts } from "./inference.ts";

/** The process, its conversation and its model. */
export type SettleParts =
  & Pick<
    InferenceParts,
    "row" | "conversation" | "exhausted" | "paid" | "gate"
  >
  & {
    readonly processes: Pick<InferenceParts["processes"], "settle" | "setModel">;
    readonly model: Pick<InferenceParts["model"], "info">;
  };

/** Books an inference: adds its message with provenance, charges its cost, and returns its event. */
export function settleInference(
  parts: SettleParts,
  body: InferBody,
  response: InferenceResponse,
  { nonce, input, cost }: {
    readonly nonce: string;
    readonly input: number;
    readonly cost: ModelCost;
  },
): { readonly response: InferenceResponse; readonly event: NewEvent } {
  const { row, processes, model, conversation } = parts;
  // The answer is as trusted as everything that the process has read, whatever the service claims.
  const toolCalls = distinctCalls(response.message.toolCalls, conversation);
  const message: ChatMessage = parts.gate.withhold(row.pid, {
    ...response.message,
    ...(toolCalls === undefined ? {} : { toolCalls }),
    role: "assistant",
    provenance: { origin: "model", source: model.info.id, colour: row.colour, label: row.label },
  });
  conversation.push(message);
  const usage = cost.counted(response.usage, {
    inputTokens: input,
    outputTokens: estimateTokens([message]),
  });
  const { inputTokens, outputTokens } = usage;
  const money = cost.of(usage);
  const charge = { inputTokens, outputTokens, money, iterations: 1 };
  // Usage beyond a limit is booked whole; the next inference is refused.
  const over = processes.settle(row.pid, charge);
  // A complete final answer counts; only a process that would continue must conclude.
  const goesOn = (response.message.toolCalls ?? []).length > 0;
  if (over !== undefined && goesOn) parts.exhausted(over);
  parts.paid(money);
  processes.setModel(row.pid, { id: model.info.id, backend: model.info.backend, nonce });
  const event: NewEvent = {
    kind: "inferred",
    body: {
      pid: row.pid,
      turn: row.turn,
      model: model.info.id,
      backend: model.info.backend,
      nonce,
      inputTokens,
      outputTokens,
      ...cachedOf(usage),
      money,
      finish: response.finishReason,
      base: body.base,
      ...defined({ step: body.step, redactions: response.redacted }),
    },
    private: { append: asJson(body.append), message: asJson(message) },
  };
  return { response: { ...response, message: withoutEchoes(message) }, event };
}

type BrokenParts = Pick<SettleParts, "row" | "paid" | "model"> & {
  readonly processes: Pick<SettleParts["processes"], "settle">;
};

/**
 * Books the cost of broken answers, from their service's report (`used`), and returns the event: an
 * inference that added nothing to the conversation. Undefined where no cost is known.
 */
export function settleBroken(
  { row, processes, model, paid }: BrokenParts,
  used: unknown,
  { nonce, cost }: { readonly nonce: string; readonly cost: ModelCost },
): NewEvent | undefined {
  // TRUST: from the model service, semi-trusted: parsed with limits.
  const usage = TokenUsage.safeParse(used);
  if (!usage.success) return undefined;
  const { inputTokens, outputTokens } = usage.data;
  const money = cost.of(usage.data);
  processes.settle(row.pid, { inputTokens, outputTokens, money, iterations: 0 });
  paid(money);
  return {
    kind: "inferred",
    body: {
      ...{ pid: row.pid, turn: row.turn, model: model.info.id, backend: model.info.backend, nonce },
      ...{ inputTokens, outputTokens, money, finish: "cancelled", aside: true, broke: true },
    },
  };
}

/** The use of a provider's prompt cache, for the event; empty where it was not used. */
export function cachedOf({ cacheReadTokens = 0, cacheWriteTokens = 0 }: TokenUsage): JsonObject {
  return {
    ...(cacheReadTokens === 0 ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === 0 ? {} : { cacheWriteTokens }),
  };
}

/**
 * Gives calls with repeated ids new ones. A repeated id with the same arguments would be taken for
 * the same call, and not made.
 */
function distinctCalls(
  calls: ChatMessage["toolCalls"],
  conversation: readonly ChatMessage[],
): ChatMessage["toolCalls"] {
  if (calls === undefined || calls.length === 0) return calls;
  const known = new Set(
    conversation.flatMap(({ toolCalls }) => toolCalls?.map(({ id }) => id) ?? []),
  );
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; known.has(id); n++) id = CallId.parse(`${call.id.slice(0, 100)}#${n}`);
    known.add(id);
    return { ...call, id };
  });
}
