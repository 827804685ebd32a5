/** Starts a program whose output is read when there is room for it, and whose input is written piece by piece. @module */
import { brokenPipe, exitOf, killChild } from "../start/spawn_powers.ts";
import type { ExitStatus } from "../start/spawn.ts";
import type { StartLine } from "../start/line_parts.ts";

const CHUNK = 65_536;

/** A program under way. */
export interface PipedProcess {
  readonly pid: number;
  /**
   * The next bytes of its standard output, valid until the next read; null at the end. Nothing is read ahead but a
   * pipe's worth.
   */
  read(): Promise<Uint8Array | null>;
  /** Resolves when the bytes are in its standard input; rejects when that is closed. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends its standard input. Idempotent. */
  hangUp(): void;
  /** Sends SIGKILL. Idempotent. */
  kill(): void;
  /** Resolves when it is reaped; its standard error was heard. */
  readonly exited: Promise<ExitStatus>;
}

/** What is started. */
export interface PipeOptions extends StartLine {
  /** Called with bytes of its standard error. The chunk is only valid during the call. */
  onStderr(chunk: Uint8Array): void;
  /** Called when it was ended by SIGKILL: what it started may be left, and hold its outputs open. */
  killed?(): void;
}

/** The power to start such programs. */
export interface PipePowers {
  start(options: PipeOptions): PipedProcess;
}

/** Makes the real power. Needs the permission to run the line's first program. */
export function makePipePowers(): PipePowers {
  return Object.freeze({ start });
}

function start({ program, args, env, onStderr, killed }: PipeOptions): PipedProcess {
  const child = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env },
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
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
