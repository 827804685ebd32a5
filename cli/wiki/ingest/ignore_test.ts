import assert from "node:assert/strict";
import { isIgnored, readIgnore } from "./ignore.ts";
import { processorTime } from "../../../tests/fake/processor_time.ts";

const fits = (text: string, path: string, folder = false): boolean =>
  isIgnored([{ depth: 0, rules: readIgnore(text) }], path.split("/"), folder);

Deno.test("rules read as git reads them: anchored ones, folders, stars, classes, negation, escapes", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["*.log", "a.log", true],
    ["*.log", "deep/down/a.log", true],
    ["/a.md", "a.md", true],
    ["/a.md", "x/a.md", false],
    ["x/a.md", "y/x/a.md", false],
    ["**/x/a.md", "y/x/a.md", true],
    ["**/x/a.md", "x/a.md", true],
    ["x/**", "x/y/z", true],
    ["x/**", "x", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/1/2/b", true],
    ["a/**/b", "a/1/2/c", false],
    ["b/", "b", false],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[^a-c]x", "dx", true],
    ["[]x]y", "]y", true],
    ["[[:digit:]]z", "7z", true],
    ["[abc", "[abc", false],
    ["\\#note", "#note", true],
    ["# note", "# note", false],
    ["\\!not", "!not", true],
    ["*.md\n!keep.md", "keep.md", false],
    ["*.md\n!keep.md", "other.md", true],
    ["trail   ", "trail", true],
    ["trail\\ ", "trail ", true],
    ["a b", "a b", true],
    ["*", "ünïcode", true],
    ["", "a", false],
    ["/", "a", false],
  ];
  for (const [rule, path, want] of cases) {
    assert.equal(fits(rule, path), want, `${JSON.stringify(rule)} over ${path}`);
  }
  assert.equal(fits("b/", "a/b", true), true);
});

Deno.test("rules of a deeper folder come later than those above it", () => {
  const layers = [
    { depth: 0, rules: readIgnore("*.md") },
    { depth: 1, rules: readIgnore("!a.md\n/only.txt") },
  ];
  assert.equal(isIgnored(layers, ["x", "a.md"], false), false);
  assert.equal(isIgnored(layers, ["x", "b.md"], false), true);
  assert.equal(isIgnored(layers, ["x", "only.txt"], false), true);
  assert.equal(isIgnored(layers, ["x", "y", "only.txt"], false), false);
});

Deno.test("mallory's rules of many stars end at once over her long names", () => {
  const stars = `${"*a".repeat(200)}*b`;
  const parts = `${"**/a*/".repeat(80)}b`;
  const name = "a".repeat(255);
  const rules = readIgnore(`${stars}\n${parts}\n${"[".repeat(900)}\n`);
  const path = Array.from({ length: 64 }, () => name);
  const before = processorTime();
  assert.equal(isIgnored([{ depth: 0, rules }], path, false), false);
  // A backtracking matcher would need longer than this machine has lived.
  assert.ok(processorTime() - before < 50_000);
});

Deno.test("mallory's rule of tabs before a lone backslash is read at once; escaped spaces stay", () => {
  // Read by a pattern that has two ways for each tab, it takes longer than anybody waits.
  assert.deepEqual(readIgnore(`${"\t".repeat(60)}\\`), []);
  assert.deepEqual(
    ["a\\  ", "a\\\\ ", "a\\\\\\ "].map((rule) => [
      fits(rule, "a "),
      fits(rule, "a\\"),
      fits(rule, "a\\ "),
    ]),
    [[true, false, false], [false, true, false], [false, false, true]],
  );
});
