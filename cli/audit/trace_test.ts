import assert from "node:assert/strict";
import { makeTracer } from "./trace.ts";

const seen = (event: string, inner: Readonly<Record<string, unknown>>) => ({
  ...{ n: 1, at: 0, event, body: { tool: "act", call: "c1", intent: true, outcome: "ok" } },
  private: inner,
});

Deno.test("the trace says what was advised with a question and of a result, and nothing where nothing was", () => {
  const trace = makeTracer(1);
  const advice = ["the result holds something that looks like a key"];
  const of = (event: string, inner: Readonly<Record<string, unknown>>): unknown =>
    trace(seen(event, inner)).map((line) => line["advice"]);
  assert.deepEqual(of("outcome", { advice }), [advice]);
  assert.deepEqual(of("questionAsked", { question: { advice } }), [advice]);
  assert.deepEqual(of("outcome", {}), [undefined]);
  assert.deepEqual(of("questionAsked", {}), [undefined]);
});
