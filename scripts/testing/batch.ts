import type { SuiteResult } from "./run_suite.ts";
import type { Suite, SuiteKind } from "./suite.ts";
import { sumTallies } from "./tally.ts";

/** How many files run in one process: few where each is a whole system, or one lane would work while others rest. */
function filesOf({ name }: Suite, kind: SuiteKind): number {
  if (kind === "long" || kind === "fuzz") return 1;
  return name.startsWith("tests/") && name !== "tests/house" ? 5 : 20;
}

/** Cuts suites into parts of the same name, each short enough that lanes end together. Doc examples stay whole. */
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

/** The result of a suite from those of its batches. `seconds` is their sum: what one lane would have taken. */
export function joined(suite: Suite, batches: readonly SuiteResult[]): SuiteResult {
  return {
    suite,
    tally: sumTallies(batches.map(({ tally }) => tally)),
    seconds: batches.reduce((sum, { seconds }) => sum + seconds, 0),
    report: batches.map(({ report }) => report).filter((report) => report !== "").join("\n"),
  };
}
