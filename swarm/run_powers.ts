/** Runs a program with its input, within time and output limits. @module */

/** A program that ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  /** Its time was over, or it printed too much. */
  readonly cut?: string;
}

/** A command line with its whole environment. */
export interface Line {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const ERROR_BYTES = 64 * 1024;

/** Runs it to its end. */
export async function run(
  { program, args, env }: Line,
  { input, seconds, bytes }: {
    readonly input: Uint8Array;
    readonly seconds: number;
    readonly bytes: number;
  },
): Promise<Ran> {
  const child = new Deno.Command(program, {
    args: [...args],
    ...{ clearEnv: true, env: { ...env }, cwd: "/" },
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  let cut: string | undefined;
  const end = (why: string): void => {
    cut ??= why;
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // It has ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
  };
  const timer = setTimeout(() => end(`it took longer than ${seconds} s`), seconds * 1_000);
  const feed = async (): Promise<void> => {
    const writer = child.stdin.getWriter();
    try {
      await writer.write(input);
      await writer.close();
    } catch (error) {
      // It ended, or closed its input, before it read all.
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
    }
  };
  const hear = async (
    stream: ReadableStream<Uint8Array>,
    most: number,
    flood: "end" | "drop",
  ): Promise<Uint8Array> => {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of stream) {
      if (size + chunk.length > most) {
        if (flood === "end") end(`it printed more than ${most} bytes`);
        continue;
      }
      size += chunk.length;
      parts.push(chunk.slice());
    }
    const whole = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  };
  try {
    const [status, stdout, stderr] = await Promise.all([
      child.status,
      hear(child.stdout, bytes, "end"),
      hear(child.stderr, ERROR_BYTES, "drop"),
      feed(),
    ]);
    return {
      ...{ code: status.code, stdout, stderr: new TextDecoder().decode(stderr) },
      ...(cut === undefined ? {} : { cut }),
    };
  } finally {
    clearTimeout(timer);
  }
}
