import { deepStrictEqual, match, notDeepStrictEqual, strictEqual } from "node:assert/strict";
import { runSuite, type SuiteResult } from "../../scripts/testing/run_suite.ts";
import { seedOf } from "../../scripts/testing/seed.ts";
import { type SuiteKind, suitesOf } from "../../scripts/testing/suite.ts";

Deno.test("what a server runs never hangs on luck: its seed is fixed, that of a search for faults fresh", () => {
  const seed = (kind: SuiteKind, now: number, ...args: readonly string[]) =>
    seedOf(["kernel/", ...args], { kind, now });
  for (const kind of ["everyday", "long"] as const) strictEqual(seed(kind, 7), seed(kind, 8));
  for (const kind of ["fuzz", "endless"] as const) deepStrictEqual(seed(kind, 2 ** 31 + 8), 8);
  strictEqual(seed("fuzz", 7, "--seed=12"), 12);
  strictEqual(seed("everyday", 7, "--seed=0"), 0);
  for (const bad of ["", "-1", "1.5", "x", "2147483648"]) {
    strictEqual(seed("fuzz", 7, `--seed=${bad}`), undefined, bad);
  }
});

Deno.test("faults are looked for in files with properties alone, and doc examples have none", () => {
  const texts: Readonly<Record<string, string>> = {
    "kernel/a_test.ts": 'import fc from "fast-check";',
    "kernel/b_test.ts": 'import fc from "somewhere";',
    "kernel/mod.ts": "",
  };
  const suites = suitesOf(Object.keys(texts), {
    ...{ kind: "fuzz", only: [] },
    read: (path) => texts[path] ?? "",
  });
  deepStrictEqual(suites.map(({ files, many }) => [files, many]), [[["kernel/a_test.ts"], true]]);
});

/** Runs one property of ten runs; gives how that went, and the numbers that were tried. */
async function tried(
  seed: number,
  { many, holds = "true" }: { readonly many?: true; readonly holds?: string } = {},
): Promise<{ readonly result: SuiteResult; readonly numbers: readonly number[] }> {
  const folder = await Deno.makeTempDir();
  try {
    const source = `import fc from "fast-check";
      const numbers = [];
      Deno.test("a property", () => {
        try {
          const property = fc.property(fc.nat(), (n) => { numbers.push(n); return ${holds}; });
          fc.assert(property, { numRuns: 10 });
        } finally { Deno.writeTextFileSync("${folder}/numbers", JSON.stringify(numbers)); }
      });`;
    await Deno.writeTextFile(`${folder}/a_test.ts`, source);
    // From the root of the repository, where suites lie.
    const file = `${"../".repeat(40)}${folder.slice(1)}/a_test.ts`;
    const suite = { name: "a", files: [file], alone: false, doc: false };
    const result = await runSuite(many ? { ...suite, many } : suite, {
      seed,
      onLine(): void {},
      end: (over) => Deno.remove(over, { recursive: true }),
    });
    return { result, numbers: JSON.parse(await Deno.readTextFile(`${folder}/numbers`)) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a seed tries the same each time, another something else, and a search goes on for much longer", async () => {
  const { result, numbers } = await tried(5);
  deepStrictEqual(result.tally, { passed: 1, failed: 0, skipped: 0 }, result.report);
  strictEqual(numbers.length, 10);
  deepStrictEqual((await tried(5)).numbers, numbers);
  notDeepStrictEqual((await tried(6)).numbers, numbers);
  const search = await tried(5, { many: true });
  deepStrictEqual(search.result.tally, { passed: 1, failed: 0, skipped: 0 }, search.result.report);
  strictEqual(search.numbers.length, 500);
  deepStrictEqual(search.numbers.slice(0, 10), numbers);
});

Deno.test("a fault that only a search meets is told with its seed and path", async () => {
  const { result } = await tried(5, { many: true, holds: "numbers.length < 300" });
  strictEqual(result.tally.failed, 1);
  match(result.report, /Property failed after 300 tests\s+\{ seed: 5, path: "299/);
});
