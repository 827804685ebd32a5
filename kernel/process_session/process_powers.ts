/** Starts a program that goes on: input, outputs that make it wait, signals through a pipe. @module */
import { brokenPipe, exitOf, killChild } from "../start/spawn_powers.ts";
import type { ExitStatus } from "../start/spawn.ts";
import type { StartLine } from "../start/line_parts.ts";

/** What is started. */
export interface LongRunOptions extends StartLine {
  /** A named pipe that is there. */
  readonly signals: string;
  /** Called with bytes of an output; the next come when what it returns is settled. */
  onOutput(chunk: Uint8Array): Promise<void>;
  onErrors(chunk: Uint8Array): Promise<void>;
}

/** A program under way. */
export interface LongRun {
  readonly pid: number;
  /** Resolves when the program's pipe took it, or broke. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends its input once what was written is taken. Idempotent. */
  endInput(): void;
  /** Writes a signal's name into the pipe. */
  signal(name: string): void;
  /** Sends SIGKILL to its walls. Idempotent. */
  kill(): void;
  /** Resolves when it is reaped. */
  readonly ended: Promise<ExitStatus>;
  /** Resolves when both outputs have been heard to their end. */
  readonly heard: Promise<void>;
}

/** The power to start such programs. */
export interface LongRunPowers {
  begin(options: LongRunOptions): LongRun;
}

/** Makes the real power. Needs the permission to run the line's first program. `killed` hears of each that was ended. */
export function makeLongRunPowers(killed: () => void = () => undefined): LongRunPowers {
  return Object.freeze({ begin: (options: LongRunOptions) => begin(options, killed) });
}

function begin(options: LongRunOptions, killed: () => void): LongRun {
  // Opened both ways it waits for nobody, and is never without a writer.
  const pipe = Deno.openSync(options.signals, { read: true, write: true });
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(options.program, {
      args: [...options.args],
      clearEnv: true,
      env: { ...options.env },
      cwd: "/",
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    pipe.close();
    throw error;
  }
  let ended = false;
  const input = child.stdin.getWriter();
  input.closed.catch(brokenPipe);
  const status = (async (): Promise<ExitStatus> => {
    const status = await child.status;
    ended = true;
    pipe.close();
    void input.abort().catch(brokenPipe);
    if (status.signal === "SIGKILL") killed();
    return exitOf(status);
  })();
  const heard = Promise.all([
    pump(child.stdout, options.onOutput),
    pump(child.stderr, options.onErrors),
  ]);
  return Object.freeze({
    pid: child.pid,
    write: (bytes: Uint8Array) => input.write(bytes).catch(brokenPipe),
    endInput: () => void input.close().catch(brokenPipe),
    signal(name: string): void {
      if (!ended) pipe.writeSync(new TextEncoder().encode(`${name}\n`));
    },
    kill(): void {
      if (!ended) killChild(child);
    },
    ended: status,
    heard: heard.then(() => undefined),
  });
}

async function pump(
  stream: ReadableStream<Uint8Array>,
  hear: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  for await (const chunk of stream) await hear(chunk);
}
