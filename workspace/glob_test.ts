import { equal, ok } from "node:assert/strict";
import { makeGlobs } from "./glob.ts";
import { processorTime } from "../tests/fake/processor_time.ts";

const covers = (glob: string, path: string): boolean =>
  makeGlobs([glob], { anyCase: true }).covers(path.split("/"));

const CASES: readonly (readonly [glob: string, path: string, covered: boolean])[] = [
  [".env*", ".env", true],
  [".env*", "app/.env.local", true],
  [".env*", "app/.ENV", true],
  [".env*", ".environment/deep/file", true],
  [".env*", "a.env", false],
  ["*.env", "keys.env", true],
  ["*.env", "KEYS.Env", true],
  ["*.env", "\uff4beys\uff0eenv", true],
  ["*.env", "keys.env.md", false],
  ["**/.ssh/**", ".ssh/id", true],
  ["**/.ssh/**", "a/b/.ssh", true],
  ["**/.ssh/**", "a/.sshx/b", false],
  ["desk/secret/**", "desk/secret/a", true],
  ["desk/secret/**", "other/desk/secret/a", false],
  ["a/*/c", "a/b/c", true],
  ["a/*/c", "a/b/b/c", false],
  ["a/**/c", "a/c", true],
  ["a/**/c", "a/b/b/c/below", true],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["/rooted/x/", "rooted/x/y", true],
  ["**", "anything", true],
];
for (const [glob, path, covered] of CASES) {
  Deno.test(`the glob ${glob} ${covered ? "covers" : "does not cover"} ${path}`, () => {
    equal(covers(glob, path), covered);
  });
}

Deno.test("mallory's glob of stars takes no exponential time", () => {
  const started = processorTime();
  equal(covers(`${"*a".repeat(40)}b`, "a".repeat(250)), false);
  equal(covers(`${"**/a/".repeat(25)}b`, Array(60).fill("a").join("/")), false);
  ok(processorTime() - started < 10_000);
});

Deno.test("without anyCase, names that differ in case differ", () => {
  equal(makeGlobs(["*.MD"], { anyCase: false }).matches(["a.md"]), false);
  equal(makeGlobs(["*.md"], { anyCase: false }).matches(["b", "a.md"]), true);
  equal(makeGlobs(["*.md"], { anyCase: false }).matches(["a.md"]), true);
});
