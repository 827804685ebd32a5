import assert from "node:assert/strict";
import { callDialect, callText, makeDialect, resultText, toolsPrompt } from "./mod.ts";

const clock = {
  name: "clock",
  description: "Tells the time.",
  schema: { type: "object", properties: { zone: { type: "string" } } },
};

for (const dialect of ["hermes", "fenced"] as const) {
  Deno.test(`a call written for a ${dialect} model is read back as that call`, () => {
    const call = { name: "clock", arguments: '{"zone":"</tool_call>\\n```"}' };
    const reader = makeDialect([dialect], new Set(["clock"]));
    assert.deepEqual(
      [...reader.text(callText(call, dialect)), ...reader.end()],
      [{ call: { ...call, closed: true } }],
    );
  });

  Deno.test(`a ${dialect} model is told each tool, and the form of a call`, () => {
    const told = toolsPrompt([clock], dialect);
    assert.ok(told.includes(JSON.stringify(clock.schema)));
    assert.ok(told.includes("Tells the time."));
    assert.match(told, dialect === "hermes" ? /<tool_call>\n/ : /```tool_call\n/);
    assert.equal(toolsPrompt([], dialect), "");
    assert.match(resultText({ name: "clock", result: "noon" }, dialect), /noon/);
  });
}

Deno.test("thoughts alone are no way to call", () => {
  assert.equal(callDialect(["think"]), undefined);
  assert.equal(callDialect(["think", "fenced"]), "fenced");
  assert.equal(callDialect(["fenced", "hermes"]), "hermes");
});
