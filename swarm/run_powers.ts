/** Runs a program to its end, or a program that answers line by line, within time and output limits. @module */
import { joinBytes } from "../port/join_bytes.ts";

/** The result of a program. */
export interface Ran {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  /** Set if the program exceeded its time or output limit. */
  readonly cut?: string;
}

/** A command line with its whole environment. */
export interface Line {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const ERROR_BYTES = 64 * 1024;

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    // The program has already ended.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Runs a program to its end. */
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
    kill(child);
  };
  const timer = setTimeout(() => end(`it took longer than ${seconds} s`), seconds * 1_000);
  const feed = async (): Promise<void> => {
    const writer = child.stdin.getWriter();
    try {
      await writer.write(input);
      await writer.close();
    } catch (error) {
      // The program ended or closed its input early.
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
    return joinBytes(parts);
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

/** A program that answers each line with a command's output, an empty field and `=CODE`, each ended by a NUL. */
export interface Loop {
  /** Sends one line; one at a time. Throws Error once the program has ended, also by its limits. */
  ask(line: string): Promise<Pick<Ran, "code" | "stdout">>;
  close(): Promise<void>;
}

/** Starts a loop. */
export function startLoop(
  { program, args, env }: Line,
  { seconds, bytes }: { readonly seconds: number; readonly bytes: number },
): Loop {
  const child = new Deno.Command(program, {
    args: [...args],
    ...{ clearEnv: true, env: { ...env }, cwd: "/" },
    ...{ stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  const writer = child.stdin.getWriter(), reader = child.stdout.getReader();
  return {
    async ask(line): Promise<Pick<Ran, "code" | "stdout">> {
      const timer = setTimeout(() => kill(child), seconds * 1_000);
      try {
        await writer.write(new TextEncoder().encode(`${line}\n`));
        let whole = new Uint8Array();
        for (;;) {
          const { done, value } = await reader.read();
          if (done || whole.length + value.length > bytes) {
            kill(child);
            throw new Error("it ended, took too long or printed too much");
          }
          whole = joinBytes([whole, value]);
          const end = /\0=(\d{1,3})\0$/.exec(new TextDecoder().decode(whole.subarray(-6)));
          // Fields are never empty, so none can look like the end marker.
          const at = whole.length - (end?.[0].length ?? 0);
          if (end !== null && (at === 0 || whole[at - 1] === 0)) {
            return { code: Number(end[1]), stdout: whole.subarray(0, at) };
          }
        }
      } finally {
        clearTimeout(timer);
      }
    },
    async close(): Promise<void> {
      kill(child);
      await reader.cancel();
      await writer.abort().catch(() => undefined);
      await child.status;
    },
  };
}
