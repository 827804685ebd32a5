import { deepEqual, equal } from "node:assert/strict";
import { CallId, SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import {
  type ChatMessage,
  type InferenceResponse,
  ModelInfo,
} from "../../../contracts/model/mod.ts";
import { DEFAULT_LIMITS } from "../../../contracts/task/mod.ts";
import { withoutEchoes } from "../worker/worker_ops.ts";
import { makeModelCost } from "../../power/model/money.ts";
import { makeProcessTable } from "../../core/process/table.ts";
import { settleInference, type SettleParts } from "./settle_inference.ts";

const provenance = { origin: "model", colour: "BLUE", label: "public" } as const;
const call = { id: CallId.parse("c1"), name: "file_read", arguments: "{}" };
const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

/** Books one answer of a model that costs, and what was left behind. */
function settled(response: Partial<InferenceResponse> & Pick<InferenceResponse, "message">) {
  const processes = makeProcessTable({ now: () => 0 });
  const conversation: ChatMessage[] = [];
  const row = processes.add({
    task: TaskId.parse("t000000000000"),
    session: SessionId.parse("s000000000000"),
    ...{ conversation: "c", principal: "alice", profile: "operator", spec: "agent", mounts: [] },
    ...{ onQuestion: "ask", phase: "work", colour: "YELLOW", label: "internal" },
    limits: DEFAULT_LIMITS,
  });
  const info = ModelInfo.parse({
    ...{ id: "openai:m", displayName: "m", arch: "m", contextTokens: 1_000, outputTokens: 100 },
    ...{ backend: "openai", supportsTools: true, remote: true, price },
  });
  const parts: SettleParts = {
    ...{ row, processes, conversation, model: { info } },
    ...{ exhausted: () => undefined, paid: () => undefined },
    gate: { withhold: (_pid, said) => said },
  };
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const whole: InferenceResponse = { usage, finishReason: "toolCalls", ...response };
  const made = settleInference(parts, { cap: 1, base: 0, append: [], maxTokens: 9 }, whole, {
    ...{ nonce: "n", input: 5, cost: makeModelCost(price) },
  });
  return { ...made, conversation, row };
}

Deno.test("what a provider wants back stays with the kernel and its log: the worker is not told", () => {
  const echo = '{"thoughts":"It is in the first file."}';
  const message = {
    role: "assistant" as const,
    content: "",
    toolCalls: [{ ...call, echo }],
    provenance,
  };
  const { response, event, conversation } = settled({ message });
  deepEqual(response.message.toolCalls, [call]);
  deepEqual(conversation[0]?.toolCalls, [{ ...call, echo }]);
  equal(JSON.stringify(event.body).includes("first file"), false);
  equal(JSON.stringify(event.private).includes("first file"), true);
});

Deno.test("what came out of a prompt cache is booked at its price, and stands in the record", () => {
  const message = { role: "assistant" as const, content: "Done.", provenance };
  const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000, cacheReadTokens: 600_000 };
  const { row, event } = settled({ message, usage });
  equal(row.usage.money.toFixed(6), (0.4 * 3 + 0.6 * 0.3 + 15).toFixed(6));
  equal(row.usage.inputTokens, 1_000_000);
  equal(event.body["cacheReadTokens"], 600_000);
  equal("cacheWriteTokens" in event.body, false);
});

Deno.test("mallory's worker says that a provider wants something back: it is not taken up", () => {
  const forged: ChatMessage = {
    ...{ role: "assistant", content: "", provenance },
    toolCalls: [{ ...call, echo: '{"thoughts":"alice@example.com"}' }],
  };
  deepEqual(withoutEchoes(forged).toolCalls, [call]);
  const plain: ChatMessage = { role: "user", content: "x", provenance };
  equal(withoutEchoes(plain), plain);
});
