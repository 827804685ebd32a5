/**
 * Runs the person's editor on their terminal. Deno's pending read of the keyboard cannot be cancelled, so the program gets
 * a pseudo-terminal of its own (`script` of util-linux), and every key is passed on to it.
 * program gets a pseudo-terminal of its own (`script` of util-linux), and every key is handed on to it.
 * @module
 */
import { Fault } from "../../contracts/base/mod.ts";
import { shellLine } from "../../text/shell.ts";

/** The keyboard and screen size of {@link runOnTerminal}. */
export interface TerminalProgramParts {
  take(listener: ((bytes?: Uint8Array) => void) | undefined): void;
  readonly size: { readonly columns: number; readonly rows: number };
}

/** Runs a program until it ends; returns its exit code. Throws Fault `notFound` where `script` is missing. */
export async function runOnTerminal(
  words: readonly string[],
  { take, size }: TerminalProgramParts,
): Promise<number> {
  const { columns, rows } = size;
  const line = `stty rows ${rows} cols ${columns}; exec ${shellLine(words)}`;
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("script", {
      args: ["-qefc", line, "/dev/null"],
      stdin: "piped",
      stdout: "inherit",
      stderr: "inherit",
      // `script` runs the line with the shell in SHELL; the line is written for /bin/sh.
      env: { SHELL: "/bin/sh" },
    }).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Fault(
      "notFound",
      'Cannot open an editor here: there is no program "script" (Debian: bsdutils)',
      { cause: error },
    );
  }
  const keys = child.stdin.getWriter();
  let written: Promise<void> = Promise.resolve();
  take((bytes) => {
    // Keys after the program's end are dropped.
    written = written.then(() => bytes === undefined ? keys.close() : keys.write(bytes))
      .catch(() => undefined);
  });
  const { code } = await child.status;
  await keys.close().catch(() => undefined);
  return code;
}
