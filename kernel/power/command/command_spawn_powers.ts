/** Runs a program with given input, passes its output on, and kills it on demand. @module */
import { brokenPipe, exitOf, killChild, spawnPiped } from "../../core/start/spawn_powers.ts";
import type { StartLine } from "../../core/start/line_parts.ts";
import type { ExitStatus } from "../../core/start/spawn.ts";

/** A program's command line, input and listeners. */
interface RunOptions extends StartLine {
  /** Standard input, which is closed afterwards unless `told` is set. */
  readonly stdin: Uint8Array;
  /** Keeps standard input open for {@link RunningProgram.tell}. */
  readonly told?: true;
  /** Called with bytes of either output; the chunk is only valid during the call. */
  onOutput(chunk: Uint8Array): void;
  onErrors(chunk: Uint8Array): void;
}

/** A running program. */
interface RunningProgram {
  readonly pid: number;
  /** Writes more input, for a program with `told`; no effect once it has ended. */
  tell(bytes: Uint8Array): void;
  /** Sends SIGKILL. Idempotent. */
  kill(): void;
  /** Resolves once the program is reaped and all output was passed on. */
  readonly ended: Promise<ExitStatus>;
}

/** The power to run programs. */
export interface RunPowers {
  run(options: RunOptions): RunningProgram;
}

/** The real power; needs the permission to run the line's first program. `killed` is called after each SIGKILL. */
export function makeRunPowers(killed: () => void = () => undefined): RunPowers {
  return Object.freeze({ run: (options: RunOptions) => run(options, killed) });
}

function run(options: RunOptions, killed: () => void): RunningProgram {
  const { stdin, told, onOutput, onErrors } = options;
  const child = spawnPiped(options);
  let ended = false;
  const input = child.stdin.getWriter();
  input.closed.catch(brokenPipe);
  const fed = input.write(stdin).then(() => told ? undefined : input.close()).catch(brokenPipe);
  const heard = [pump(child.stdout, onOutput), pump(child.stderr, onErrors)];
  return Object.freeze({
    pid: child.pid,
    tell(bytes: Uint8Array): void {
      if (!ended) input.write(bytes).catch(brokenPipe);
    },
    kill(): void {
      if (!ended) killChild(child);
    },
    ended: (async (): Promise<ExitStatus> => {
      const status = await child.status;
      ended = true;
      if (told) void input.abort().catch(brokenPipe);
      // Leftover children hold its outputs open.
      if (status.signal === "SIGKILL") killed();
      await Promise.all([fed, ...heard]);
      return exitOf(status);
    })(),
  });
}

/** Passes a stream's chunks to `hear`, one after another. */
export async function pump(
  stream: ReadableStream<Uint8Array>,
  hear: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  for await (const chunk of stream) await hear(chunk);
}

/**
 * Removes a folder with its content; absent is fine. The programs that used it must have ended.
 * Rejects only where even the folder's owner cannot remove it.
 */
export async function removeRoom(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    reopen(path);
    await Deno.remove(path, { recursive: true });
  }
}

/** Gives the owner all rights to every folder beneath `path`; links are not followed. */
function reopen(path: string): void {
  const todo = [path];
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    Deno.chmodSync(folder, 0o700);
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      if (isDirectory) todo.push(`${folder}/${name}`);
    }
  }
}

/**
 * Removes the folders of runs that a killed kernel left: `WORK/TASK/run-…`. Called before anything runs.
 */
export async function clearRooms(work: string): Promise<void> {
  for (const task of namesIn(work)) {
    for (const name of namesIn(`${work}/${task}`)) {
      if (name.startsWith("run-")) await removeRoom(`${work}/${task}/${name}`);
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory ? [name] : []
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
