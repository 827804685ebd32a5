import assert from "node:assert/strict";
import { tool } from "../_fixture/contract_suite.ts";
import { toolWords, typeWords } from "./tool_words.ts";

Deno.test("a schema becomes a type that says names, kinds, choices and what they are for", () => {
  const schema = {
    type: "object",
    properties: {
      path: { type: "string", description: "MOUNT/relative\npath" },
      mode: { enum: ["a", "b"] },
      lines: { type: "array", items: { type: "integer" } },
      at: { anyOf: [{ type: "number" }, { const: "end" }] },
      "odd key": { type: ["string", "null"] },
      deep: { type: "object", properties: { x: { type: "boolean" } }, required: ["x"] },
      any: {},
    },
    required: ["path", "deep"],
  };
  assert.equal(
    typeWords(schema, 4),
    '{path: string /* MOUNT/relative path */, mode?: "a"|"b", lines?: integer[], ' +
      'at?: number|"end", "odd key"?: string|null, deep: {x: boolean}, any?: any}',
  );
});

Deno.test("what is no schema, and one without end, says any and ends", () => {
  for (const odd of [undefined, null, true, 3, "x", []]) assert.equal(typeWords(odd, 4), "any");
  let endless: Record<string, unknown> = { type: "integer" };
  for (let n = 0; n < 1_000; n++) endless = { type: "array", items: endless };
  assert.equal(typeWords(endless, 4), "any[][][][][]");
});

Deno.test("thirty tools take half of the tokens that their schemas take", () => {
  const tools = Array.from({ length: 30 }, (_, n) => tool(`file_read_${n}`));
  const words = toolWords(tools, (text) => text);
  assert.ok(words.length * 2 < JSON.stringify(tools).length);
});
