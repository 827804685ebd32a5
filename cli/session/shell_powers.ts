/** Runs a line that a person typed after `!` in their own shell, with their rights; agents never use this. @module */
import type { CommandOutput } from "./attach.ts";

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
