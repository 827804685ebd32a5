import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { foldPath } from "../text/path_list.ts";
import { makeGlob } from "./glob.ts";
import { processorTime } from "../tests/fake/processor_time.ts";

const match = (glob: string, path: string): boolean => makeGlob(glob).matches(path.split("/"));

Deno.test("a star stays within a part, two stars cross parts, and nothing else is special", () => {
  for (
    const [glob, path, fits] of [
      ["a/*.md", "a/b.md", true],
      ["a/*.md", "a/b/c.md", false],
      ["a/**", "a", true],
      ["a/**", "a/b/c", true],
      ["a/**/z", "a/z", true],
      ["a/**/z", "a/b/c/z", true],
      ["a/**/z", "a/b/c/zz", false],
      ["**/b/**/d", "a/b/b/c/d", true],
      ["*", "", true],
      ["a*b*c", "abc", true],
      ["a*b*c", "aXbYc", true],
      ["a*b*c", "acb", false],
      ["aa*aa", "aaa", false],
      ["a?c", "abc", false],
      ["[ab]", "a", false],
      ["a.c", "abc", false],
    ] as const
  ) equal(match(glob, path), fits, `${glob} ${path}`);
});

/** The same meaning, written as a regular expression: slow on hostile patterns, right on small ones. */
function slow(glob: string): RegExp {
  const parts = glob.split("/").map((part) =>
    part === "**"
      ? "**"
      : part.replaceAll(/[.*+?^${}()|[\]\\]/g, (c) => c === "*" ? "[^/]*" : `\\${c}`)
  );
  return new RegExp(
    `^/${parts.map((part) => part === "**" ? "(?:[^/]*/)*" : `${part}/`).join("")}$`,
  );
}

Deno.test("globs mean what the equivalent regular expression means", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 4 });
  const part = fc.oneof(letters.map((p) => p === "**" ? "*" : p), fc.constant("**"));
  const glob = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
  const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
  const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));
  fc.assert(
    fc.property(glob, path, (g, p) => equal(match(g, p), slow(g).test(`/${p}/`), `${g} ${p}`)),
    { numRuns: 5_000 },
  );
});

Deno.test("mallory's patterns take no longer than their length allows", () => {
  const began = processorTime();
  equal(match(`${"a*".repeat(2_000)}b`, "a".repeat(4_000)), false);
  equal(match(`${"**/a/".repeat(800)}b`, Array(2_000).fill("a").join("/")), false);
  equal(match(`${"**/".repeat(1_300)}b`, Array(2_000).fill("a").join("/")), false);
  equal(match(`${"*a".repeat(2_000)}`, "b".repeat(4_000)), false);
  // Exponential matching of any of these would not end this year.
  ok(processorTime() - began < 20_000);
});

Deno.test("names that a file system may take for one are folded into one", () => {
  equal(foldPath("ＫEYS．ENV"), "keys.env");
  equal(foldPath(".g\u200cit"), ".git");
  equal(foldPath("\u212a"), "k");
  equal(foldPath("cafe\u0301"), foldPath("caf\u00e9"));
});
