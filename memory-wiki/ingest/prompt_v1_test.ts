import assert from "node:assert/strict";
import { partsOf, tokensOf } from "./prompt_v1.ts";

Deno.test("parts follow each other without a gap and without an overlap, and fit", () => {
  const lines = Array.from(
    { length: 1_000 },
    (_, n) =>
      n % 40 === 0 ? `## Section ${n}` : n % 7 === 0 ? "" : `Line ${n} ${"word ".repeat(n % 30)}`,
  );
  const parts = partsOf(lines, 8_000);
  assert.ok(parts.length > 2);
  let next = 1;
  for (const { from, to } of parts) {
    assert.equal(from, next);
    assert.ok(to >= from && to - from < 400);
    assert.ok(tokensOf(lines.slice(from - 1, to).join("\n")) < 8_000 - 3_500);
    next = to + 1;
  }
  assert.equal(next, lines.length + 1);
});

Deno.test("a part that must end does so before a heading where one is near", () => {
  const lines = Array.from({ length: 900 }, (_, n) => n === 350 ? "# Next" : `Line ${n}`);
  assert.deepEqual(partsOf(lines, 32_000)[1]?.from, 351);
});

Deno.test("one line of a megabyte is one part, shown by its beginning; nothing is no part", () => {
  assert.deepEqual(partsOf(["x".repeat(1_000_000)], 8_000), [{ from: 1, to: 1 }]);
  assert.deepEqual(partsOf(["", "  ", ""], 8_000), []);
});

Deno.test("a text of Chinese takes a token a character, not a quarter of one", () => {
  assert.equal(tokensOf("租约在三十秒后结束"), 9);
  assert.equal(tokensOf("leases end!!"), 3);
});
