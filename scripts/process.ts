/** The result of a child process of a script. */
export type Ended = { readonly code: number; readonly output: string };

/** The repository's root, without a final slash. */
export const ROOT: string = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

/**
 * Writes the whole text to stdout before it returns, so that lines of parallel suites stay whole.
 */
export function print(text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}

/** Runs this deno with `args` at the root, without colours; returns both streams as one text. */
export async function runDeno(args: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await denoOutput(args);
  return { code, output: stdout + stderr };
}

/** Runs this deno with `args` at the root; returns only stdout, for `--json` commands. */
export async function denoJson(args: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await denoOutput(args);
  return { code, output: code === 0 ? stdout : stderr };
}

async function denoOutput(args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    stdin: "null",
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Fetches the npm packages of deno.json, so that everything afterwards works offline. */
export async function cachePackages(): Promise<Ended> {
  return await runDeno(["install", "--quiet"]);
}
