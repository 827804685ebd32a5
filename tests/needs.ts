import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";

/** The line that `deno task test` counts as one skipped test. */
export const SKIP_MARK = "skipped: needs ";

/**
 * Whether the system program `program` is on the PATH. When it is not, one line is printed and the test that asked
 * is counted as skipped: `if (!needs("bwrap")) return;` as its first line, once a test.
 *
 * @throws Error when the program is missing and `CI` is `true`: there nothing is skipped.
 */
export function needs(program: string): boolean {
  if (isThere(program)) return true;
  if (process.env["CI"] === "true") {
    throw new Error(
      `Cannot run this test: it needs "${program}", and where CI=true nothing is skipped`,
    );
  }
  process.stdout.write(`${SKIP_MARK}${program}\n`);
  return false;
}

function isThere(program: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error) return false;
      throw error;
    }
  });
}
