/**
 * Runs the person's own programs on their terminal: their editor, and lines for their shell. Deno's pending read of the
 * keyboard cannot be cancelled, so an editor gets a pseudo-terminal of its own (`script` of util-linux), and every key is
 * passed on to it.
 * @module
 */
import { Fault } from "../../contracts/base/mod.ts";
import { shellLine } from "../../text/shell.ts";
import type { CommandOutput } from "./attach.ts";

/** Runs a program until it ends; returns its exit code. Throws Fault `notFound` where `script` is missing. */
export async function runOnTerminal(
  words: readonly string[],
  { take, size }: {
    take(listener: ((bytes?: Uint8Array) => void) | undefined): void;
    readonly size: { readonly columns: number; readonly rows: number };
  },
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

/** Characters of output that are kept; the rest is read and dropped. */
const MAX_OUTPUT = 65_536;

/**
 * Runs `line` as `SHELL -c` would in another terminal, in this folder, without a keyboard. Ctrl-C ends the command, as the
 * terminal sends it to all its processes.
 */
export async function runInShell(line: string): Promise<CommandOutput> {
  const child = new Deno.Command(Deno.env.get("SHELL") ?? "/bin/sh", {
    args: ["-c", line],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const ignore = (): void => undefined;
  Deno.addSignalListener("SIGINT", ignore);
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      if (output.length < MAX_OUTPUT) output += decoder.decode(piece, { stream: true });
    }
  };
  try {
    await Promise.all([read(child.stdout), read(child.stderr)]);
    const { code } = await child.status;
    return {
      code,
      output: output.length <= MAX_OUTPUT
        ? output
        : `${output.slice(0, MAX_OUTPUT)}\n… the rest is left out\n`,
    };
  } finally {
    Deno.removeSignalListener("SIGINT", ignore);
  }
}
