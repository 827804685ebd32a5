/** A program that answers lines with lines. @module */

/** A program that runs. */
export interface LineProcess extends AsyncDisposable {
  readonly pid: number;
  /** Its next line, after an empty one was written to it. */
  ask(): Promise<string>;
}

/**
 * Starts `args` with Deno; resolves when it has written a first line, which is `greeting`. With `yields`
 * it gives way to others, as the kernel's children do.
 */
export async function startLineProcess(
  args: readonly string[],
  { yields = false }: { readonly yields?: boolean } = {},
): Promise<LineProcess & { readonly greeting: string }> {
  const [program = "", ...rest] = [
    ...yields ? ["nice", "-n", "10"] : [],
    ...[Deno.execPath(), "run", "--quiet", "-A", ...args],
  ];
  const child = new Deno.Command(program, {
    args: rest,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  const line = async (): Promise<string> => {
    while (!said.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`${args[0]} ended`);
      said += value;
    }
    const end = said.indexOf("\n");
    const first = said.slice(0, end);
    said = said.slice(end + 1);
    return first;
  };
  const greeting = await line();
  return {
    pid: child.pid,
    greeting,
    async ask(): Promise<string> {
      await writer.write(new Uint8Array([10]));
      return await line();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await writer.close();
      await reader.cancel();
      await child.status;
    },
  };
}
