/**
 * `deno task test [--verbose] [PATH_PREFIX]...`: the everyday tests, and the examples in the doors'
 * docs. `deno task test:long` (`--long`): tests whose name ends in `(long)`. `deno task test:fault`
 * (`--endless`): `*_endless.ts`. `deno task test:fuzz` (`--fuzz`): the tests of files with
 * properties, with many more tries per property.
 *
 * Random choices derive from a seed: `--seed=N`, else a fixed one, or a fresh one for `test:fuzz`
 * and `test:fault`.
 *
 * Prints one line per suite, failures and skipped tests as they occur (where `CI` is `true`, a
 * skipped test counts as failed), and `N passed, N failed` on the last line.
 *
 * @module
 */
import { readTree } from "./house/tree.ts";
import { cachePackages, print, ROOT, runDeno } from "./process.ts";
import { batchesOf, joined } from "./testing/batch.ts";
import { type GuardedRun, guardRun } from "./testing/guard.ts";
import { runSuite, type SuiteResult } from "./testing/run_suite.ts";
import { seedOf } from "./testing/seed.ts";
import { type Suite, type SuiteKind, suitesOf } from "./testing/suite.ts";
import { sumTallies, tallyLine, tellsOfSkip } from "./testing/tally.ts";

/** One more than cores: tests wait for processes more than half of the time. */
const LANES = navigator.hardwareConcurrency + 1;
const BUILD = ["run", "-A", "--quiet", "--no-check", "scripts/build.ts"];

/** What to run, and how to report it. */
type Plan = {
  readonly kind: SuiteKind;
  readonly seed: number;
  readonly verbose: boolean;
  readonly end: GuardedRun["end"];
};

/** Runs the suites in batches, several in parallel, then those that must run alone. */
async function runAll(
  suites: readonly Suite[],
  { kind, seed, verbose, end }: Plan,
): Promise<readonly SuiteResult[]> {
  const results: SuiteResult[] = [];
  const batches = batchesOf(suites, kind);
  const ended = new Map<string, readonly SuiteResult[]>();
  const one = async (batch: Suite): Promise<void> => {
    const { name } = batch;
    const part = await runSuite(batch, {
      ...{ seed, end },
      onLine(line): void {
        const failed = /\.\.\. FAILED/.test(line);
        if (verbose || failed || tellsOfSkip(line)) print(`  ${name}: ${line}\n`);
      },
    });
    const parts = [...ended.get(name) ?? [], part];
    ended.set(name, parts);
    if (parts.length < batches.filter((each) => each.name === name).length) return;
    const result = joined(batch, parts);
    print(suiteLine(result));
    results.push(result);
  };
  const queue = batches.filter(({ alone }) => !alone);
  const lane = async (): Promise<void> => {
    for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) await one(batch);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  for (const batch of batches.filter(({ alone }) => alone)) await one(batch);
  return results;
}

function suiteLine({ suite, tally, seconds, report }: SuiteResult): string {
  const state = tally.failed === 0 ? "ok  " : "FAIL";
  const line = `${state}  ${suite.name.padEnd(18)} ${tallyLine(tally)} (${seconds.toFixed(1)} s)\n`;
  return report === "" ? line : `${line}${report}\n`;
}

function kindOf(args: readonly string[]): SuiteKind {
  if (args.includes("--endless")) return "endless";
  if (args.includes("--fuzz")) return "fuzz";
  return args.includes("--long") ? "long" : "everyday";
}

if (import.meta.main) {
  const options = {
    kind: kindOf(Deno.args),
    read: (path: string) => Deno.readTextFileSync(`${ROOT}/${path}`),
    only: Deno.args.filter((argument) => !argument.startsWith("-")),
  };
  const seed = seedOf(Deno.args, { kind: options.kind, now: Date.now() });
  if (seed === undefined) {
    print("FAIL  Cannot take --seed: it is a whole number below 2147483648\n0 passed, 1 failed\n");
    Deno.exit(2);
  }
  const fetched = await cachePackages();
  if (fetched.code !== 0) {
    print(`FAIL  packages\n${fetched.output.trim()}\n0 passed, 1 failed\n`);
    Deno.exit(1);
  }
  // Built once here: parallel suites would each build it on a machine without a cache.
  const built = options.only.length > 0 ? fetched : await runDeno(BUILD);
  if (built.code !== 0) {
    print(`FAIL  build\n${built.output.trim()}\n0 passed, 1 failed\n`);
    Deno.exit(1);
  }
  const paths = readTree(ROOT).map(({ path }) => path);
  const verbose = Deno.args.includes("--verbose");
  const run = await guardRun();
  const plan = { kind: options.kind, seed, verbose, end: run.end };
  const results = await runAll(suitesOf(paths, options), plan);
  await run[Symbol.asyncDispose]();
  const total = sumTallies(results.map(({ tally }) => tally));
  const failed = results.filter(({ tally }) => tally.failed > 0).map(({ suite }) => suite.name);
  if (failed.length > 0) {
    print(`\nfailed in: ${failed.join(", ")}; --seed=${seed} makes the same choices again\n`);
  }
  print(`${tallyLine(total)}\n`);
  Deno.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
}
