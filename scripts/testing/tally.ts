import { SKIP_MARK } from "../../tests/needs.ts";

/** How many tests of a suite ended how. */
export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: number };

const SUMMARY = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed(?:.*? \| (\d+) ignored)?/;

/**
 * Counts a suite from what `deno test` wrote and its exit code. A run that ends badly without naming a failed test
 * (a module that does not load, a deadline) is one failure; a test that asked `needs()` in vain is skipped, not passed.
 */
export function tallyOf(output: string, code: number): Tally {
  const lines = output.split("\n");
  const summary = lines.map((line) => SUMMARY.exec(line)).findLast((match) => match !== null);
  const [passed, failed, ignored] = [1, 2, 3].map((group) => Number(summary?.[group] ?? 0));
  const lacking = lines.filter((line) => line.startsWith(SKIP_MARK)).length;
  return {
    passed: Math.max(0, (passed ?? 0) - lacking),
    failed: code === 0 ? failed ?? 0 : Math.max(1, failed ?? 0),
    skipped: (ignored ?? 0) + lacking,
  };
}

/** The sum of tallies. */
export function sumTallies(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (sum, tally) => ({
      passed: sum.passed + tally.passed,
      failed: sum.failed + tally.failed,
      skipped: sum.skipped + tally.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** The line that ends a run: `N passed, N failed`, and `, N skipped` where there are any. */
export function tallyLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
