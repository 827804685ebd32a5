/** The kernel process's powers: clock, randomness, timers, its own folder, its own end. @module */
import process from "node:process";
import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import { removeRoom } from "./power/command/command_spawn_powers.ts";
import { makeForwardClock } from "./core/process/limits.ts";
import type { FailPoint, Powers } from "../contracts/task/mod.ts";
import type { KernelConfig } from "../contracts/wire/mod.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Random bytes fetched at a time; each is used once. */
const SUPPLY = 1_024;

/** Real powers. `failpoint` ends this process with SIGKILL, as a crash would. */
export function realPowers(failpoint: KernelConfig["failpoint"]): Powers {
  let left = failpoint?.after ?? 0;
  let supply: Buffer = randomBytes(SUPPLY);
  let at = 0;
  /** The offset of the next `count` unused bytes of the supply. */
  const draw = (count: number): number => {
    if (at + count > supply.length) [supply, at] = [randomBytes(SUPPLY), 0];
    at += count;
    return at - count;
  };
  return Object.freeze({
    now: makeForwardClock({ wall: () => Date.now(), steady: () => performance.now() }),
    id(prefix: string): string {
      let id = prefix;
      while (id.length < prefix.length + 12) {
        const byte = supply[draw(1)] ?? 255;
        // 36 * 7 = 252: higher bytes are drawn again, so that all characters are equally likely.
        if (byte < 252) id += ALPHABET[byte % 36];
      }
      return id;
    },
    token(): string {
      const from = draw(16);
      return supply.toString("hex", from, from + 16);
    },
    after(ms: number, f: () => void): () => void {
      const timer = setTimeout(f, Math.min(ms, 2 ** 31 - 1));
      Deno.unrefTimer(timer);
      return () => clearTimeout(timer);
    },
    reach(point: FailPoint): void {
      if (failpoint?.at !== point) return;
      left -= 1;
      if (left <= 0) process.kill(Deno.pid, "SIGKILL");
    },
  });
}

const GONE = { isDirectory: false, size: -1 };

/** The kernel's own folder. */
export const disk = Object.freeze({
  async makeDir(path: string): Promise<void> {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  },
  remove: removeRoom,
  async read(path: string): Promise<Uint8Array | undefined> {
    try {
      return await Deno.readFile(path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  },
  /** Writes a file atomically. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    const beside = `${path}.${randomBytes(6).toString("hex")}`;
    await Deno.writeFile(beside, bytes, { mode: 0o600, createNew: true });
    await Deno.rename(beside, path);
  },
  /** Names in a folder; empty where there is none. */
  async list(path: string): Promise<readonly string[]> {
    try {
      return (await Array.fromAsync(Deno.readDir(path))).map(({ name }) => name);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  },
  /** Counts files beneath a folder and their bytes; links are not followed, and files that vanish meanwhile are not counted. */
  async weigh(path: string): Promise<{ readonly files: number; readonly bytes: number }> {
    let files = 0, bytes = 0;
    const todo = [path];
    for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
      for (const name of await disk.list(folder)) {
        const { isDirectory, size } = await Deno.lstat(`${folder}/${name}`).catch(() => GONE);
        if (isDirectory) todo.push(`${folder}/${name}`);
        else if (size >= 0) [files, bytes] = [files + 1, bytes + size];
      }
    }
    return { files, bytes };
  },
  /** A mark: a file that exists or not. */
  flag(
    path: string,
  ): { read(): Promise<boolean>; write(): Promise<void>; remove(): Promise<void> } {
    return Object.freeze({
      read: async () => await disk.read(path) !== undefined,
      write: () => Deno.writeFile(path, new Uint8Array(), { mode: 0o600 }),
      remove: () => disk.remove(path),
    });
  },
  /**
   * Tells whether nobody can reach this kernel any more: its socket is gone, like after a logout that removes the runtime
   * folder, or its login session is closing, which this process would hold up.
   */
  async deserted({ controlSocket, session }: KernelConfig): Promise<boolean> {
    try {
      await Deno.lstat(controlSocket);
      const state = session === undefined ? "" : await Deno.readTextFile(session);
      return /^STATE=closing$/m.test(state);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return true;
      throw error;
    }
  },
  /** Takes the state folder's lock; false where another kernel has it. */
  async lock(path: string): Promise<boolean> {
    const file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
    return await file.tryLock(true);
  },
});

/**
 * A mark for processes that this kernel starts. Kernels of the same folder recognise its first
 * part, which does not reveal the folder's path.
 */
export function markOf(dir: string): string {
  const folder = createHash("sha256").update(`remit mark ${dir}`).digest("hex").slice(0, 24);
  return `remit-${folder}-${randomBytes(12).toString("hex")}`;
}

/** Reads the one line that init writes to standard input. */
export async function readConfigLine(): Promise<string> {
  const chunks: Uint8Array[] = [];
  const buffer = new Uint8Array(65_536);
  for (let total = 0;;) {
    const n = await Deno.stdin.read(buffer);
    if (n === null) break;
    total += n;
    if (total > 16_000_000) {
      throw new RangeError("Cannot start the kernel: its configuration is too large");
    }
    const end = buffer.subarray(0, n).indexOf(10);
    chunks.push(buffer.slice(0, end === -1 ? n : end));
    if (end !== -1) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Listens on a unix socket that only this user can reach. */
export async function listenControl(path: string): Promise<Deno.UnixListener> {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const listener = Deno.listen({ transport: "unix", path });
  await Deno.chmod(path, 0o600);
  return listener;
}

/** Ends this process. */
export function exit(code: number): never {
  return Deno.exit(code);
}

/** Writes a line to the kernel's own log. */
export function note(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${new Date().toISOString()} ${line}\n`));
}

/** Calls `f` on SIGTERM and SIGINT. */
export function onTerminate(f: () => void): void {
  Deno.addSignalListener("SIGTERM", f);
  Deno.addSignalListener("SIGINT", f);
}
