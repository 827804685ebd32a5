/**
 * Runs a whole session in memory before the first byte is read, so that a pooled worker serves its
 * first turn with compiled code. Used by main.ts.
 * @module
 */
import type { Json } from "../contracts/base/json.ts";
import type { Port } from "../contracts/base/port.ts";
import { makePort } from "../port/mod.ts";
import { makeWorker } from "./worker.ts";

const PROVENANCE = { origin: "kernel", colour: "BLUE", label: "public" };
const AMPLE = 1_000_000;
const LIMITS = {
  outputTokens: AMPLE,
  contextWindow: AMPLE,
  iterations: AMPLE,
  retries: 0,
};

/** Starts a worker against a fake kernel, lets it make one tool call, and ends its turn. */
export async function warm(): Promise<void> {
  const worker: Port = makePort({
    write: (bytes) => kernel.feed(bytes),
    handler: makeWorker({
      ask: (op, body) => worker.ask(op, body),
      tell: (op, body) => worker.tell(op, body),
    }),
  });
  const kernel: Port = makePort({
    write: (bytes) => worker.feed(bytes),
    handler: { ask: fakeKernel(), tell: () => {} },
  });
  await kernel.ask("start", {
    caps: { model: 1, tools: 2, children: 3 },
    limits: LIMITS,
    conversation: [{ role: "system", content: "warm", provenance: PROVENANCE }],
  });
  kernel.tell("chunk", { textDelta: "warm" });
  // One turn: more turns make the first real one 1 ms faster and every cold start 1 ms slower.
  await kernel.ask("turn", {
    message: { role: "user", content: "warm", provenance: PROVENANCE },
  });
  kernel.close("warm");
  worker.close("warm");
}

function fakeKernel(): (op: string) => Json {
  let inferences = 0;
  return (op) => {
    if (op === "advertise") return { id: "0".repeat(64), tools: [] };
    if (op === "call") {
      return { callId: "1", outcome: "ok", content: "warm", colour: "BLUE", label: "public" };
    }
    const asks = ++inferences % 2 === 1;
    return {
      message: {
        role: "assistant",
        content: "warm",
        ...(asks ? { toolCalls: [{ id: "1", name: "warm", arguments: "{}" }] } : {}),
        provenance: PROVENANCE,
      },
      usage: { inputTokens: 1, outputTokens: 1 },
      finishReason: asks ? "toolCalls" : "stop",
    };
  };
}
