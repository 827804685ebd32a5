import assert from "node:assert/strict";
import fc from "fast-check";
import { readPattern } from "./pattern.ts";

const span = (pattern: string, text: string, flags = "") => {
  const whole = readPattern(pattern, { flags }).find(text)?.[0];
  return whole === undefined ? null : [whole.from, whole.to];
};

const atom = fc.constantFrom(
  "a",
  "b",
  "c",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "\\d",
  "^",
  "$",
  "\\b",
  "(?:a|b)",
  "(a|bc)",
  "\\x61",
);
const quantity = fc.constantFrom("", "*", "+", "?", "{1,2}", "*?", "+?", "??", "{2}");
const flat = fc.array(fc.tuple(atom, quantity), { maxLength: 5 })
  .map((parts) =>
    parts.map(([one, many]) => /^(?:\^|\$|\\b)$/.test(one) ? one : one + many).join("")
  );
const text = fc.string({
  unit: fc.constantFrom("a", "b", "c", "1", " ", "é", "😀"),
  maxLength: 12,
});

Deno.test("matches are where the platform's expressions find them", () => {
  fc.assert(
    fc.property(flat, flat, text, (one, other, subject) => {
      for (const pattern of [one, `${one}|${other}`]) {
        const found = new RegExp(pattern, "u").exec(subject);
        const units = found === null ? null : [found.index, found.index + found[0].length];
        assert.deepEqual(span(pattern, subject), units, pattern);
      }
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("with repeats in repeats, too, it matches exactly the texts that the platform matches", () => {
  fc.assert(
    fc.property(flat, flat, text, (one, other, subject) => {
      const pattern = `^(?:(?:${one})*${other})+$`;
      assert.equal(
        span(pattern, subject) !== null,
        new RegExp(pattern, "u").test(subject),
        pattern,
      );
    }),
    { numRuns: 1_000 },
  );
});

for (
  const pattern of [
    "(a+)+$",
    "(a|a)*b",
    "(a|aa)+$",
    "(.*)*b",
    "(?:a?){25}a{25}b",
    "([a-z]+)*!",
    "^(\\w+\\s?)*$!",
  ]
) {
  Deno.test(`mallory's pattern ${pattern} takes linear time`, () => {
    const steps: number[] = [];
    const run = (length: number): number => {
      let spent = 0;
      readPattern(pattern, { spend: (more) => spent += more }).find("a".repeat(length));
      return spent;
    };
    steps.push(run(500), run(1_000));
    assert.ok((steps[1] ?? 0) <= 2.2 * (steps[0] ?? 0), steps.join(" "));
  });
}

Deno.test("what cannot be matched in linear time, or is too large, is refused", () => {
  for (
    const pattern of [
      "(a)\\1",
      "(?=a)",
      "(?!a)",
      "(?<=a)",
      "\\k<x>",
      "a++",
      "(?i)a",
      "(a{1000}){1000}",
      "a{1001}",
    ]
  ) {
    assert.throws(() => readPattern(pattern), { name: "Fault" }, pattern);
  }
  assert.throws(() => readPattern("(".repeat(10_000)), { name: "Fault" });
});

Deno.test("a pattern of a schema takes ASCII alone for \\w and \\d, and letters of all scripts with flag u", () => {
  for (const char of ["é", "٣", "я", "\u0301"]) {
    assert.equal(span("\\w|\\d", char), null, char);
    assert.deepEqual(span("\\w|\\d", char, "u"), [0, 1], char);
    assert.deepEqual(span("[\\W]", char), [0, 1], char);
    assert.equal(span("[\\W]", char, "u"), null, char);
  }
});
