import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { callText, textInstance, valueOf } from "./_fixture/text_plugin.ts";

const MANY = { numRuns: 300 };

Deno.test("alice finds every line that holds a word, with its line and column in characters", async () => {
  const text = "first\nzwölf Äpfel und Birnen\nlast Birnen\n";
  deepStrictEqual(await valueOf("text_search", { text, query: "Birnen" }), {
    count: 2,
    matches: [
      { line: 2, column: 17, text: "zwölf Äpfel und Birnen" },
      { line: 3, column: 6, text: "last Birnen" },
    ],
  });
});

Deno.test("a word is found in either case, also beyond ASCII, when case does not matter", async () => {
  const text = "ÄPFEL\näpfel\nApfel\n";
  const { count } = await valueOf("text_search", { text, query: "äPfel", ignoreCase: true });
  strictEqual(count, 2);
  strictEqual((await valueOf("text_search", { text, query: "PFEL", ignoreCase: true })).count, 3);
});

Deno.test("a query that looks like an expression is taken literally unless it is called one", async () => {
  const text = "a.c\nabc\n";
  strictEqual((await valueOf("text_search", { text, query: "a.c" })).count, 1);
  strictEqual((await valueOf("text_search", { text, query: "a.c", ignoreCase: true })).count, 1);
  strictEqual((await valueOf("text_search", { text, query: "a.c", regex: true })).count, 2);
});

Deno.test("context is there before and after each match, and ends with the text", async () => {
  const text = "1\n2\nX\n4\nX";
  const { matches } = await valueOf("text_search", { text, query: "X", context: 2 });
  deepStrictEqual(matches, [
    { line: 3, column: 1, text: "X", before: ["1", "2"], after: ["4", "X"] },
    { line: 5, column: 1, text: "X", before: ["X", "4"], after: [] },
  ]);
});

Deno.test("the count is of the whole text, also where fewer matches are asked for", async () => {
  const text = "x\n".repeat(5_000);
  const few = await valueOf("text_search", { text, query: "x", limit: 2 });
  deepStrictEqual([few.count, few.matches.length, few.more], [5_000, 2, true]);
  const none = await valueOf("text_search", { text, query: "x", limit: 0 });
  deepStrictEqual([none.count, none.matches.length, none.more], [5_000, 0, true]);
});

Deno.test("results stay below what is shown, whatever matches", async () => {
  const text = `${"\u0001".repeat(390)}x\n`.repeat(1_000);
  const value = await valueOf("text_search", { text, query: "x", limit: 1_000 });
  ok(JSON.stringify(value).length < 65_536, "64 KiB");
  deepStrictEqual([value.count, value.more], [1_000, true]);
});

Deno.test("lines that end in CR LF are matched and shown without them", async () => {
  const text = "one\r\ntwo\r\n\r\n";
  const { matches } = await valueOf("text_search", { text, query: "o$", regex: true });
  deepStrictEqual(matches, [{ line: 2, column: 3, text: "two" }]);
  strictEqual((await valueOf("text_search", { text, query: "^$", regex: true })).count, 1);
  strictEqual((await valueOf("text_search", { text, query: "\r" })).count, 0);
});

Deno.test("bytes that are no UTF-8 and NUL are no obstacle: they are shown as they can be", async () => {
  const file = new Uint8Array([0x61, 0xff, 0x00, 0x62, 0x0a, 0xc3, 0x0a, 0x62]);
  const { matches } = await valueOf("text_search", { path: "f", query: "b" }, { f: file });
  deepStrictEqual(matches, [
    { line: 1, column: 4, text: "a\ufffd\u0000b" },
    { line: 3, column: 1, text: "b" },
  ]);
  // A dot is one character, and what is no UTF-8 is none.
  strictEqual(
    (await valueOf("text_search", { path: "f", query: "a.", regex: true }, { f: file })).count,
    0,
  );
});

Deno.test("a file is searched over the borders of its pieces as if it were one", async () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `${i} ${"é".repeat(i % 40)} end`);
  const f = lines.join("\n");
  const value = await valueOf("text_search", {
    path: "f",
    query: "^\\d*7777 .* end$",
    regex: true,
    context: 1,
  }, { f });
  const wanted = lines.flatMap((line, i) => /^\d*7777 /.test(line) ? [i + 1] : []);
  deepStrictEqual(value.matches.map(({ line }: { line: number }) => line), wanted);
  for (const { line, before, after } of value.matches) {
    deepStrictEqual([before, after], [[lines[line - 2]], [lines[line]]]);
  }
});

Deno.test("context reaches over the border of two pieces in both directions", async () => {
  // The first piece ends behind `first`: 786,432 bytes.
  const first = `${"x".repeat(786_432 - 2 - 4)}\nA\nB\n`;
  const after = await valueOf("text_search", { path: "f", query: "B", context: 2 }, {
    f: `${first}C\nD\nE\n`,
  });
  deepStrictEqual(after.matches[0].after, ["C", "D"]);
  const before = await valueOf("text_search", { path: "f", query: "D", context: 3 }, {
    f: `${first}C\nD\nE\n`,
  });
  deepStrictEqual(before.matches[0].before, ["A", "B", "C"]);
});

Deno.test("a line of several megabytes is shown around its match, one that is longer to its first two", async () => {
  const long = `${"ä".repeat(600_000)}needle${"b".repeat(600_000)}`;
  const [match] =
    (await valueOf("text_search", { path: "f", query: "needle" }, { f: `${long}\nx` })).matches;
  deepStrictEqual([match.line, match.column, match.cut], [1, 600_001, true]);
  ok(match.text.includes("needle") && match.text.length < 500 && !match.text.includes("\ufffd"));

  const longer = `${"a".repeat(5_000_000)}needle\nneedle\n`;
  const value = await valueOf("text_search", { path: "f", query: "needle" }, { f: longer });
  deepStrictEqual(value, {
    count: 1,
    matches: [{ line: 2, column: 1, text: "needle" }],
    overlong: 1,
  });
});

Deno.test("a search of literal text agrees with a plain scan, for any text and query", async () => {
  const call = await textInstance();
  const words = fc.stringMatching(/^[abAB \n\u00e9]{0,60}$/);
  const query = fc.stringMatching(/^[abAB \u00e9]{1,4}$/);
  await fc.assert(
    fc.asyncProperty(words, query, async (text, query) => {
      const { value } = await call("text_search", { text, query, limit: 1_000 });
      const wanted = text.split("\n").flatMap((line, i) =>
        line.includes(query) ? [[i + 1, [...line.slice(0, line.indexOf(query))].length + 1]] : []
      );
      const found = value.matches.map((m: { line: number; column: number }) => [m.line, m.column]);
      deepStrictEqual(found, wanted);
    }),
    MANY,
  );
});

/** Expressions of the syntax that JavaScript shares. */
const expression = fc.letrec<{ whole: string; one: string; many: string }>((tie) => ({
  one: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "é", "_", "1", " ", ".", "-", "\\.") },
    fc.constantFrom(
      "\\d",
      "\\w",
      "\\s",
      "\\D",
      "\\W",
      "\\S",
      "[ab]",
      "[^a]",
      "[a-cé]",
      "[^\\w]",
      "[\\d_-]",
      "\\u00e9",
    ),
    fc.constantFrom("^", "$", "\\b"),
    fc.tuple(fc.constantFrom("(", "(?:"), tie("whole")).map(([open, inner]) => `${open}${inner})`),
  ),
  many: fc.tuple(
    fc.array(
      fc.tuple(tie("one"), fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"))
        .map(([one, times]) => /^(\^|\$|\\b)$/.test(one) ? one : one + times),
      { minLength: 0, maxLength: 4 },
    ),
  ).map(([parts]) => parts.join("")),
  whole: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("many"),
    fc.tuple(tie("many"), tie("many")).map(([a, b]) => `${a}|${b}`),
  ),
})).whole;

Deno.test("expressions find the same lines and first places as JavaScript's", async () => {
  const call = await textInstance();
  const line = fc.stringMatching(/^[abcABé_1 .-]{0,12}$/);
  await fc.assert(
    fc.asyncProperty(
      expression.filter((text) => text.length > 0),
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (query, lines, ignoreCase) => {
        const { value, error } = await call("text_search", {
          text: lines.join("\n") + "\n",
          query,
          regex: true,
          ignoreCase,
          limit: 1_000,
        });
        strictEqual(error, undefined, `${query}: ${error?.message}`);
        const regex = new RegExp(query, ignoreCase ? "ui" : "u");
        const wanted = lines.flatMap((line, i) => {
          const at = line.search(regex);
          return at < 0 ? [] : [[i + 1, [...line.slice(0, at)].length + 1]];
        });
        const found = value.matches.map((
          m: { line: number; column: number },
        ) => [m.line, m.column]);
        deepStrictEqual(found, wanted);
      },
    ),
    { numRuns: 2_000 },
  );
});

const REFUSED: readonly [query: string, why: RegExp][] = [
  ["(a", /\( without its \)/],
  ["a)", /\) without its \(/],
  ["[a", /\[ without its \]/],
  ["*a", /nothing to repeat/],
  ["a**", /a repeat is repeated/],
  ["a{2}{3}", /a repeat is repeated/],
  ["^*", /nothing to repeat/],
  ["a{3,2}", /ends before it begins/],
  ["a{1001}", /1000 times at most/],
  ["[b-a]", /ends before it begins/],
  ["(?=a)", /no looking around/],
  ["(?<n>a)", /no looking around/],
  ["(a)\\1", /cannot be referred to/],
  ["\\p{L}", /not known/],
  ["\\", /not known/],
  ["\\u12", /too short/],
  ["\\u{110000}", /no code point/],
  ["(".repeat(60) + ")".repeat(60), /too deep/],
  ["a".repeat(1_001), /more than 1000 bytes/],
];

Deno.test("what is no expression here is refused, with the reason", async () => {
  for (const [query, why] of REFUSED) {
    const { ok: done, error } = await callText("text_search", { text: "a", query, regex: true });
    deepStrictEqual([done, error?.code], [false, "invalidArguments"], query);
    ok(why.test(error?.message ?? ""), `${query}: ${error?.message}`);
  }
});

Deno.test("an expression that would fill memory is refused before it does", async () => {
  for (const query of ["((a{1000}){1000}){1000}", "(((.{0,999}){0,999}){0,999}){0,999}"]) {
    const { error } = await callText("text_search", { text: "a", query, regex: true });
    strictEqual(error?.code, "tooLarge", query);
  }
  // Nothing, a thousand times a thousand times a thousand times, is nothing.
  const nothing = "(((){1000}){1000}){1000}";
  strictEqual(
    (await valueOf("text_search", { text: "a\n", query: nothing, regex: true })).count,
    1,
  );
});

Deno.test("a text and a file together, or neither, are refused", async () => {
  const both = await callText("text_search", { path: "f", text: "a", query: "a" }, { f: "a" });
  const neither = await callText("text_search", { query: "a" });
  deepStrictEqual([both.error?.code, neither.error?.code], [
    "invalidArguments",
    "invalidArguments",
  ]);
});

Deno.test("what the host refuses is told with the host's code", async () => {
  const { error } = await callText("text_search", { path: "desk/no", query: "a" });
  deepStrictEqual(error, { code: "notFound", message: "Cannot read desk/no" });
});

Deno.test("an empty text matches nothing, not even the empty expression", async () => {
  const found = await valueOf("text_search", { path: "f", query: "^$", regex: true }, { f: "" });
  strictEqual(found.count, 0);
  strictEqual((await valueOf("text_search", { text: "", query: "a" })).count, 0);
});
