import type { SuiteResult } from "./run_suite.ts";
import type { Suite, SuiteKind } from "./suite.ts";
import { sumTallies } from "./tally.ts";

/** Files per process: few where each starts a whole system, so that no lane idles at the end. */
function filesOf({ name }: Suite, kind: SuiteKind): number {
  if (kind === "long" || kind === "fuzz") return 1;
  return name.startsWith("tests/") && name !== "tests/house" ? 5 : 20;
}

/** Splits suites, so that lanes end at about the same time. Doc examples stay whole. */
export function batchesOf(suites: readonly Suite[], kind: SuiteKind): readonly Suite[] {
  return suites.flatMap((suite) => {
    if (suite.doc) return [suite];
    const count = Math.ceil(suite.files.length / filesOf(suite, kind));
    const size = Math.ceil(suite.files.length / count);
    return Array.from({ length: count }, (_, n) => {
      return { ...suite, files: suite.files.slice(n * size, (n + 1) * size) };
    });
  });
}

/** Joins a suite's batches. `seconds` is their sum: what one lane would have taken. */
export function joined(suite: Suite, batches: readonly SuiteResult[]): SuiteResult {
  return {
    suite,
    tally: sumTallies(batches.map(({ tally }) => tally)),
    seconds: batches.reduce((sum, { seconds }) => sum + seconds, 0),
    report: batches.map(({ report }) => report).filter((report) => report !== "").join("\n"),
  };
}
