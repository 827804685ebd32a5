import { deepEqual, equal } from "node:assert/strict";
import { hiddenIn } from "./hidden.ts";

Deno.test("a plain text hides nothing, in any script, with line ends, tabs and emoji", () => {
  for (const text of ["Hello,\r\n\tworld", "привет мир", "日本語 👩‍👩‍👧 ❤️", "naïve e\u0301", ""]) {
    deepEqual(hiddenIn(text), [], text);
  }
});

Deno.test("what is hidden is counted by its kind", () => {
  const cases: readonly (readonly [string, RegExp, number])[] = [
    ["pay\u202eevil\u2066", /direction/, 2],
    ["a\u{e0041}\u{e0042}b", /tag characters/, 2],
    ["a\ufe01b", /variation/, 1],
    ["one\rtwo\u2028", /line breaks that hide/, 2],
    ["\x1b[2J\x07", /control/, 2],
    ["\ue000", /without a meaning/, 1],
    ["a\u200bb\u2060c\u{2800}", /no width or no ink/, 3],
    [`see${" ".repeat(60)}this`, /out of sight/, 1],
    ["pаypal", /look like others/, 1],
  ];
  for (const [text, what, count] of cases) {
    const found = hiddenIn(text);
    equal(found.length, 1, JSON.stringify(found));
    equal(what.test(found[0]?.what ?? ""), true, JSON.stringify(found));
    equal(found[0]?.count, count, text);
  }
});
