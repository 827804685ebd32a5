/** The real {@link SpawnPowers}: Deno.Command, unix sockets, real paths. @module */
import { archOf, filterBytes, FILTERING, filterPath, FILTERS, opening } from "./seccomp.ts";
import type {
  ExitStatus,
  OsProcess,
  SocketConnection,
  SocketListener,
  SpawnPowers,
  StartOptions,
} from "./spawn.ts";

/** Bytes per read: few at first, because hundreds of children wait and most write little. */
const [FIRST_OUTPUT, FIRST_ERRORS, CHUNK] = [2_048, 512, 65_536];
/** Bytes queued for a child that does not read; more kills the child. */
const UNREAD = 64 * 1024 * 1024;

/**
 * The powers of this process over children and sockets. Needs the permissions that
 * `kernelPermissions` lists.
 *
 * Not `node:child_process`: Deno's version rewrites argument lists that name its own executable and
 * inserts `-A` after `run`, which would give every permission to every child.
 */
export function makeSpawnPowers(): SpawnPowers {
  return Object.freeze({ start, succeeds, listen, remove, occupy, keepFilters, realPath, isLink });
}

/** Starts a program with three pipes, and with no environment but its own. */
export function spawnPiped(
  { program, args, env }: Pick<StartOptions, "program" | "args" | "env">,
): Deno.ChildProcess {
  return new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env },
    // The kernel's own folder would tell a child the state's path and the user's name.
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    // Not `detached`: the kernel itself has no terminal, and its children stay in its session.
    // Linux weighs sessions against each other before `nice`, and Deno would fork this whole
    // process for a `setsid`, which takes 2 ms.
  }).spawn();
}

function start(options: StartOptions): OsProcess {
  const child = spawnPiped(options);
  const input = child.stdin.getWriter();
  let ended = false;
  let unread = 0;
  const written = (length: number) => (): void => {
    unread -= length;
  };
  const output = pump(child.stdout, FIRST_OUTPUT, options.onOutput);
  const errors = pump(child.stderr, FIRST_ERRORS, options.onStderr);
  const exited = (async (): Promise<ExitStatus> => {
    const status = await child.status;
    ended = true;
    if (status.signal === "SIGKILL") options.killed?.();
    await Promise.all([output, errors, input.close().catch(brokenPipe)]);
    return exitOf(status);
  })();
  return Object.freeze({
    pid: child.pid,
    write(bytes: Uint8Array): void {
      if (ended) return;
      unread += bytes.length;
      if (unread > UNREAD) return killChild(child);
      input.write(bytes).then(written(bytes.length), brokenPipe);
    },
    kill(): void {
      if (!ended) killChild(child);
    },
    exited,
  });
}

async function pump(
  stream: ReadableStream<Uint8Array>,
  first: number,
  hear: (chunk: Uint8Array) => void,
): Promise<void> {
  const reader = stream.getReader({ mode: "byob" });
  let size = first;
  let buffer = new Uint8Array(size);
  for (;;) {
    const { value, done } = await reader.read(buffer);
    if (value === undefined || done) return;
    hear(value);
    const isFull = value.length === size && size < CHUNK;
    if (isFull) size = Math.min(CHUNK, size * 4);
    buffer = isFull ? new Uint8Array(size) : new Uint8Array(value.buffer);
  }
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, {
      args: [...args],
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound || cause instanceof Deno.errors.NotCapable) {
      return false;
    }
    throw cause;
  }
}

/** Listens at a path, and first removes a socket that a killed kernel left there. */
function bind(path: string): Deno.UnixListener {
  try {
    return Deno.listen({ transport: "unix", path });
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    remove(path);
    return Deno.listen({ transport: "unix", path });
  }
}

function listen(path: string): SocketListener {
  const listener = bind(path);
  return Object.freeze({
    async accept(): Promise<SocketConnection> {
      const connection = await listener.accept();
      return Object.freeze({
        read: (buffer: Uint8Array) => connection.read(buffer),
        async write(bytes: Uint8Array): Promise<void> {
          for (let done = 0; done < bytes.length;) {
            done += await connection.write(bytes.subarray(done));
          }
        },
        close: () => connection.close(),
      });
    },
    close: () => listener.close(),
  });
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
  }
}

function occupy(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable) return false;
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
  }
  try {
    Deno.writeTextFileSync(path, "Remit: no child keeps anything here.\n", { createNew: true });
    return true;
  } catch (cause) {
    if (cause instanceof Deno.errors.NotCapable) return false;
    throw cause;
  }
}

function keepFilters(dir: string): boolean {
  const arch = archOf(Deno.build.arch);
  if (arch === undefined || Deno.build.os !== "linux") return false;
  for (const filter of FILTERS) {
    const path = filterPath(dir, filter);
    // Replaced atomically: a child that starts meanwhile reads the old filter or the new one.
    Deno.writeFileSync(`${path}.new`, filterBytes(filter, arch), { mode: 0o644 });
    Deno.renameSync(`${path}.new`, path);
  }
  return true;
}

/** Tells whether a filter of system calls works on this machine, for `remit doctor`. */
export async function triesFilter(bwrap: string): Promise<boolean> {
  const dir = Deno.makeTempDirSync({ prefix: "remit-filter-" });
  try {
    if (!keepFilters(dir)) return false;
    const [program = "", ...words] = opening(dir, "program");
    const wall = [bwrap, ...FILTERING, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"];
    return await succeeds(program, [...words, ...wall, "true"]);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    // Absent, a loop, not a folder or unreadable: the caller must refuse in each case.
    return undefined;
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

/** Sends SIGKILL. A process that was reaped between the caller's check and this call is in the wanted state already. */
export function killChild(child: Pick<Deno.ChildProcess, "kill">): void {
  try {
    child.kill("SIGKILL");
  } catch (cause) {
    if (!(cause instanceof TypeError) && !(cause instanceof Deno.errors.NotFound)) throw cause;
  }
}

/** Converts Deno's status: an exit code, or the signal that ended the process. */
export function exitOf({ code, signal }: Deno.CommandStatus): ExitStatus {
  return signal === null ? { code, signal: null } : { code: null, signal };
}

/** Ignores failed writes: a program need not read its input, and its end is reported elsewhere. */
export function brokenPipe(_cause: unknown): void {}
