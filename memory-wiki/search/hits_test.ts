import fc from "fast-check";
import assert from "node:assert/strict";
import { bestSnippet, MOST_SNIPPET } from "./hits.ts";

const weights = new Map([["needl", 5], ["common", 1]]);

Deno.test("a short passage is shown whole, without blank lines at its ends", () => {
  const snippet = bestSnippet(["", "one", "", "two", " "], 10, weights);
  assert.deepEqual(snippet, { startLine: 11, endLine: 13, text: "one\n\ntwo" });
});

Deno.test("of a long passage the lines around what was asked are shown", () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n} ${"hay ".repeat(10)}`);
  lines[70] = "here is the needle";
  lines[10] = "common";
  const { startLine, endLine, text } = bestSnippet(lines, 1, weights);
  assert.ok(startLine <= 71 && endLine >= 71);
  assert.equal(text, lines.slice(startLine - 1, endLine).join("\n"));
});

Deno.test("of a line that is too long the part around what was asked is shown", () => {
  const { text } = bestSnippet(
    [`${"hay ".repeat(5_000)}needle${" hay".repeat(5_000)}`],
    1,
    weights,
  );
  assert.match(text, /needle/);
});

Deno.test("whatever the lines, a snippet is bounded and is exactly the lines that it names", () => {
  const line = fc.oneof(
    fc.constantFrom("", "needle", "common needle", "x".repeat(5_000), "😀".repeat(800)),
    fc.string({ maxLength: 300 }).map((each) => each.replaceAll("\n", " ")),
  );
  fc.assert(fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), (lines) => {
    const { startLine, endLine, text } = bestSnippet(lines, 1, weights);
    assert.ok(text.length <= MOST_SNIPPET);
    assert.ok(startLine >= 1 && endLine >= startLine && endLine <= lines.length);
    const whole = lines.slice(startLine - 1, endLine).join("\n");
    assert.ok(startLine === endLine ? whole.includes(text) : whole === text);
    if (lines.join("").isWellFormed()) assert.ok(text.isWellFormed());
  }));
});
