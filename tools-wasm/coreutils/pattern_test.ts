import assert from "node:assert/strict";
import fc from "fast-check";
import { makeExpression, occurrences } from "./expression.ts";
import type { Pattern } from "../../text/pattern.ts";
import { makeNameTest, parsePattern, readyPattern } from "./pattern.ts";
import { processorTime } from "../../tests/fake/processor_time.ts";

const extended = (pattern: string): Pattern =>
  readyPattern(parsePattern(pattern, { extended: true, ignoreCase: false }));

const piece = fc.constantFrom("a", "b", "ab", ".", "[ab]", "[^a]", "(a|b)", "(ab)", "\\w", "\\b");
const source = fc.array(
  fc.tuple(piece, fc.constantFrom("", "*", "+", "?", "{1,2}", "{2}")),
  { maxLength: 5 },
).map((parts) =>
  // A quantified assertion means nothing that engines agree on.
  parts.map(([part, times]) => part === "\\b" ? part : part + times).join("")
);
const line = fc.string({ unit: fc.constantFrom("a", "b", "c", " "), maxLength: 12 });

Deno.test("a pattern matches the lines that the language's own engine matches", () => {
  fc.assert(
    fc.property(source, line, fc.boolean(), (pattern, text, anchored) => {
      const whole = anchored ? `^(${pattern})$` : pattern;
      assert.equal(extended(whole).test(text), new RegExp(whole, "u").test(text), whole);
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("what is found begins where the language's engine finds it, and is the longest there", () => {
  fc.assert(
    fc.property(source, line, (pattern, text) => {
      const span = extended(pattern).find(text)?.[0];
      const found = new RegExp(pattern, "u").exec(text);
      assert.equal(span?.from, found?.index, pattern);
      if (span === undefined || found === null) return;
      for (let to = text.length; to > span.to; to--) {
        const longer = new RegExp(`^(?:${pattern})$`, "u").test(text.slice(span.from, to));
        // An edge of a word may hold only because the text was cut there.
        if (!pattern.includes("\\b")) assert.equal(longer, false, pattern);
      }
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("patterns that make a backtracking engine hang take linear time", () => {
  const began = processorTime();
  const text = "a".repeat(50_000) + "!";
  for (const pattern of ["(a+)+$", "(a|a)*b", "(a*)*c", "(a|aa)+$", "(.*)*x$", "a{1,50}{1,20}b"]) {
    assert.equal(extended(pattern).test(text), false, pattern);
  }
  // A backtracking engine needs more than 2^1000 steps for the first alone.
  assert.ok(processorTime() - began < 10_000);
});

Deno.test("patterns too large or too deep are refused before they cost anything", () => {
  for (
    const pattern of [
      "((((a{1000}){1000}){1000}){1000}){1000}",
      "a{1001}",
      "(".repeat(200) + ")".repeat(200),
      "(a",
      "a)",
      "[a",
      "*a(\\",
      "(a)\\1",
      "[z-a]",
      "[[:nope:]]",
      "a{2,1}",
      "+a",
    ]
  ) {
    assert.throws(() => extended(pattern), { name: "UsageError" }, pattern);
  }
});

Deno.test("alice restricts a pattern to words, lines and cases, and gives several", () => {
  const style = { kind: "fixed", ignoreCase: true, as: "word" } as const;
  const word = makeExpression(["Key.x", "zwei"], style);
  assert.equal(word.test("a KEY.X b"), true);
  assert.equal(word.test("monkey.x"), false);
  assert.equal(word.test("zweites"), false);
  const all = makeExpression(["a\nb+"], { kind: "extended", ignoreCase: false, as: "line" });
  assert.deepEqual(["a", "bbb", "ab"].map(all.test), [true, true, false]);
  const spans = [...occurrences(extended("x*"), "axxb")].filter(({ from, to }) => to > from);
  assert.deepEqual(spans, [{ from: 1, to: 3 }]);
  assert.deepEqual(extended(".").find("𝄞"), [{ from: 0, to: 2 }]);
});

Deno.test("a glob matches the names that a shell matches, in linear time", () => {
  const matches = (glob: string, name: string): boolean => makeNameTest(glob, false)(name);
  assert.equal(matches("*.md", "a.md"), true);
  assert.equal(matches("*.md", "a.mdx"), false);
  assert.equal(matches("[!a]?c", "bbc"), true);
  assert.equal(matches("a\\*", "a*"), true);
  assert.equal(matches("a.(b)+$", "a.(b)+$"), true);
  assert.equal(matches("*a*a*a*a*a*a*b", "a".repeat(5_000)), false);
});
