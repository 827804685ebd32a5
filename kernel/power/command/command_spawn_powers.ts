/** Starts a program with its input, hears its output, ends it. @module */
import { brokenPipe, exitOf, killChild } from "../../core/start/spawn_powers.ts";
import type { StartLine } from "../../core/start/line_parts.ts";
import type { ExitStatus } from "../../core/start/spawn.ts";

/** What a run of a program is. */
interface RunOptions extends StartLine {
  /** Its standard input, which then ends unless it is `told` more. */
  readonly stdin: Uint8Array;
  readonly told?: true;
  /** Called with bytes of either output; the chunk is only valid during the call. */
  onOutput(chunk: Uint8Array): void;
  onErrors(chunk: Uint8Array): void;
}

/** A program under way. */
interface RunningProgram {
  readonly pid: number;
  /** Writes more of its input, of one that is `told`; nothing once it has ended. */
  tell(bytes: Uint8Array): void;
  /** Sends SIGKILL. Idempotent. */
  kill(): void;
  /** Resolves when it is reaped; what it printed was heard. */
  readonly ended: Promise<ExitStatus>;
}

/** The power to run programs. */
export interface RunPowers {
  run(options: RunOptions): RunningProgram;
}

/** Makes the real power. Needs the permission to run the line's first program. `killed` hears of each that was ended. */
export function makeRunPowers(killed: () => void = () => undefined): RunPowers {
  return Object.freeze({ run: (options: RunOptions) => run(options, killed) });
}

function run(
  { program, args, env, stdin, told, onOutput, onErrors }: RunOptions,
  killed: () => void,
): RunningProgram {
  const child = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env },
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
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
      // What it left waiting holds its outputs open.
      if (status.signal === "SIGKILL") killed();
      await Promise.all([fed, ...heard]);
      return exitOf(status);
    })(),
  });
}

async function pump(
  stream: ReadableStream<Uint8Array>,
  hear: (chunk: Uint8Array) => void,
): Promise<void> {
  for await (const chunk of stream) hear(chunk);
}

/**
 * Removes a folder with all that is in it; absent is fine. The programs that used it have ended.
 * Rejects only where even its owner cannot.
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

/** Gives its owner every right to every folder; links are met, not followed. */
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
 * Removes the folders of runs that a kernel left when it was killed: `WORK/TASK/run-…`. To be called
 * before anything runs.
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
