/**
 * `deno task test [--fault] [--verbose] [PATH_PREFIX]...`: every `*_test.ts` and the examples in the doors' docs.
 * One line a suite, failures and skipped tests as they come (where `CI` is `true` a skipped test is a failed one), and `N passed, N failed` alone on the last line. With `--fault`: the long
 * runs of `tests/fault` instead.
 *
 * @module
 */
import { readTree } from "./house/tree.ts";
import { cachePackages, print, ROOT } from "./process.ts";
import { runSuite, type SuiteResult } from "./testing/run_suite.ts";
import { type Suite, suitesOf } from "./testing/suite.ts";
import { sumTallies, tallyLine, tellsOfSkip } from "./testing/tally.ts";

const BESIDE = 2;

/** Runs the suites two at a time, then those that must run alone. */
async function runAll(suites: readonly Suite[], verbose: boolean): Promise<readonly SuiteResult[]> {
  const results: SuiteResult[] = [];
  const one = async (suite: Suite): Promise<void> => {
    const result = await runSuite(suite, (line) => {
      const failed = /\.\.\. FAILED/.test(line);
      if (verbose || failed || tellsOfSkip(line)) {
        print(`  ${suite.name}: ${line}\n`);
      }
    });
    print(suiteLine(result));
    results.push(result);
  };
  const queue = suites.filter(({ alone }) => !alone);
  const lane = async (): Promise<void> => {
    for (let suite = queue.shift(); suite !== undefined; suite = queue.shift()) await one(suite);
  };
  await Promise.all(Array.from({ length: BESIDE }, lane));
  for (const suite of suites.filter(({ alone }) => alone)) await one(suite);
  return results;
}

function suiteLine({ suite, tally, seconds, report }: SuiteResult): string {
  const state = tally.failed === 0 ? "ok  " : "FAIL";
  const line = `${state}  ${suite.name.padEnd(18)} ${tallyLine(tally)} (${seconds.toFixed(1)} s)\n`;
  return report === "" ? line : `${line}${report}\n`;
}

if (import.meta.main) {
  const options = {
    fault: Deno.args.includes("--fault"),
    only: Deno.args.filter((argument) => !argument.startsWith("-")),
  };
  const fetched = await cachePackages();
  if (fetched.code !== 0) {
    print(`FAIL  packages\n${fetched.output.trim()}\n0 passed, 1 failed\n`);
    Deno.exit(1);
  }
  if (options.fault) Deno.env.set("REMIT_FAULT_LONG", "1");
  const paths = readTree(ROOT).map(({ path }) => path);
  const results = await runAll(suitesOf(paths, options), Deno.args.includes("--verbose"));
  const total = sumTallies(results.map(({ tally }) => tally));
  const failed = results.filter(({ tally }) => tally.failed > 0).map(({ suite }) => suite.name);
  if (failed.length > 0) print(`\nfailed in: ${failed.join(", ")}\n`);
  print(`${tallyLine(total)}\n`);
  Deno.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
}
