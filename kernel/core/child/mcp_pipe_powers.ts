/** Starts a program with backpressure: output is read on demand, and each write waits for the pipe. @module */
import { brokenPipe, exitOf, killChild, spawnPiped } from "../start/spawn_powers.ts";
import type { ExitStatus } from "../start/spawn.ts";
import type { StartLine } from "../start/line_parts.ts";

const CHUNK = 65_536;

/** A running program. */
export interface PipedProcess {
  readonly pid: number;
  /**
   * The next bytes of standard output, valid until the next read; null at the end. Nothing is read
   * ahead beyond the pipe's own buffer.
   */
  read(): Promise<Uint8Array | null>;
  /** Resolves once the bytes are in standard input; rejects when standard input is closed. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes standard input. Idempotent. */
  hangUp(): void;
  /** Sends SIGKILL. Idempotent. */
  kill(): void;
  /** Resolves once the process is reaped and all of its standard error was delivered. */
  readonly exited: Promise<ExitStatus>;
}

/** A program's command line and its listeners. */
export interface PipeOptions extends StartLine {
  /** Called with bytes of standard error. The chunk is only valid during the call. */
  onStderr(chunk: Uint8Array): void;
  /** Called after SIGKILL: programs that this one started may live on and hold its outputs open. */
  killed?(): void;
}

/** The power to start programs with backpressure. */
export interface PipePowers {
  start(options: PipeOptions): PipedProcess;
}

/** The real power; needs the permission to run the line's first program. */
export function makePipePowers(): PipePowers {
  return Object.freeze({ start });
}

function start(options: PipeOptions): PipedProcess {
  const { onStderr, killed } = options;
  const child = spawnPiped(options);
  const input = child.stdin.getWriter();
  const output = child.stdout.getReader({ mode: "byob" });
  let buffer = new Uint8Array(CHUNK);
  let ended = false, open = true;
  const heard = (async () => {
    for await (const chunk of child.stderr) onStderr(chunk);
  })();
  return Object.freeze<PipedProcess>({
    pid: child.pid,
    async read(): Promise<Uint8Array | null> {
      const { value, done } = await output.read(buffer);
      if (value === undefined || done) return null;
      buffer = new Uint8Array(value.buffer);
      return value;
    },
    write: (bytes) => input.write(bytes),
    hangUp(): void {
      if (!open) return;
      open = false;
      input.close().catch(brokenPipe);
    },
    kill(): void {
      if (!ended) killChild(child);
    },
    exited: (async (): Promise<ExitStatus> => {
      const status = await child.status;
      ended = true;
      if (status.signal === "SIGKILL") killed?.();
      await heard;
      input.abort().catch(brokenPipe);
      return exitOf(status);
    })(),
  });
}
