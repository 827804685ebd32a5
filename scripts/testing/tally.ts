import { SKIP_MARK } from "../../tests/needs.ts";

/** How many tests of a suite ended how. */
export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: number };

const SUMMARY = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed(?:.*? \| (\d+) ignored)?/;

/** What is left to judge a run by when it is over. */
export type Run = {
  /** All that `deno test` wrote to stdout. */
  readonly output: string;
  /** Its exit code. */
  readonly code: number;
  /** Nothing may be skipped: a skipped test is a failed one. */
  readonly strict: boolean;
};

/** A line that says that a test was skipped: deno's own, or that of `needs()`. */
export function tellsOfSkip(line: string): boolean {
  return line.startsWith(SKIP_MARK) || / \.\.\. ignored \(/.test(line);
}

/**
 * Counts a suite. A run that ends badly without naming a failed test (a module that does not load, a deadline) is one
 * failure; a test that asked `needs()` in vain is skipped, not passed.
 */
export function tallyOf({ output, code, strict }: Run): Tally {
  const lines = output.split("\n");
  const summary = lines.map((line) => SUMMARY.exec(line)).findLast((match) => match !== null);
  const count = (group: number): number => Number(summary?.[group] ?? 0);
  const lacking = lines.filter((line) => line.startsWith(SKIP_MARK)).length;
  const skipped = count(3) + lacking;
  const failed = code === 0 ? count(2) : Math.max(1, count(2));
  return {
    passed: Math.max(0, count(1) - lacking),
    failed: strict ? failed + skipped : failed,
    skipped: strict ? 0 : skipped,
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
