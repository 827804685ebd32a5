/** Starts a program that outlives its call: input, outputs with backpressure, signals through a pipe. @module */
import { pump } from "./command_spawn_powers.ts";
import { brokenPipe, exitOf, killChild, spawnPiped } from "../../core/start/spawn_powers.ts";
import type { ExitStatus } from "../../core/start/spawn.ts";
import type { StartLine } from "../../core/start/line_parts.ts";

/** A program's command line and its listeners. */
export interface LongRunOptions extends StartLine {
  /** An existing named pipe. */
  readonly signals: string;
  /** Called with bytes of an output; the next bytes come once the returned promise settles. */
  onOutput(chunk: Uint8Array): Promise<void>;
  onErrors(chunk: Uint8Array): Promise<void>;
}

/** A running program. */
export interface LongRun {
  readonly pid: number;
  /** Resolves once the program's pipe took the bytes, or broke. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes the input after the written bytes. Idempotent. */
  endInput(): void;
  /** Writes a signal's name into the pipe. */
  signal(name: string): void;
  /** Sends SIGKILL to its walls. Idempotent. */
  kill(): void;
  /** Resolves once the program is reaped. */
  readonly ended: Promise<ExitStatus>;
  /** Resolves once both outputs were passed on completely. */
  readonly heard: Promise<void>;
}

/** The power to start programs that outlive their call. */
export interface LongRunPowers {
  begin(options: LongRunOptions): LongRun;
}

/** The real power; needs the permission to run the line's first program. `killed` is called after each SIGKILL. */
export function makeLongRunPowers(killed: () => void = () => undefined): LongRunPowers {
  return Object.freeze({ begin: (options: LongRunOptions) => begin(options, killed) });
}

function begin(options: LongRunOptions, killed: () => void): LongRun {
  // Opened for reading and writing, the open does not wait, and the pipe always has a writer.
  const pipe = Deno.openSync(options.signals, { read: true, write: true });
  let child: Deno.ChildProcess;
  try {
    child = spawnPiped(options);
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
