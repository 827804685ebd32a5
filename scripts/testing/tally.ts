import { SKIP_MARK } from "../../tests/needs.ts";

/** Numbers of passed, failed and skipped tests of a suite. */
export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: number };

const SUMMARY = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed(?:.*? \| (\d+) ignored)?/;

/** What a run left to judge it by. */
export type Run = {
  /** Everything that `deno test` wrote to stdout. */
  readonly output: string;
  /** Its exit code. */
  readonly code: number;
  /** Whether skipped tests count as failed. */
  readonly strict: boolean;
};

/** Whether a line reports a skipped test: deno's own line, or that of `needs()`. */
export function tellsOfSkip(line: string): boolean {
  return line.startsWith(SKIP_MARK) || / \.\.\. ignored \(/.test(line);
}

/**
 * Counts a suite. A run that fails without naming a failed test (a module that does not load, a
 * deadline) counts as one failure. A test whose `needs()` were not met counts as skipped, not
 * passed.
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

/** Adds tallies. */
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

/** Returns the last line of a run: `N passed, N failed`, and `, N skipped` where there are any. */
export function tallyLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
