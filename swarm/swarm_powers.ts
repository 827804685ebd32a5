/** Powers of a swarm: git and checks within walls, private folders, a journal, the clock. @module */
import { dirname, join } from "node:path";
import { Fault } from "../contracts/base/mod.ts";
import { type Line, type Loop, type Ran, run, startLoop } from "./run_powers.ts";

/** Files visible to git: its repository, and at most one read-only folder of objects. */
export interface GitRoom {
  /** The bare repository, absolute. */
  readonly mirror: string;
  /** Object folder of another repository, absolute. */
  readonly objects?: string;
}

/** A file or link to put into a private folder. */
export interface Planted {
  /** Relative; the caller has checked each component. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly kind: "file" | "program" | "link";
}

/** An append-only file of lines. */
export interface Journal {
  readonly lines: readonly string[];
  /** Appends a line; resolves when it is on disk. */
  append(line: string): Promise<void>;
  close(): void;
}

/** The powers of `remit swarm`. */
export interface SwarmPowers {
  /** Runs git with these arguments in its own namespace: no network, no home, no files but the room's. */
  git(room: GitRoom, args: readonly string[], input?: Uint8Array): Promise<Ran>;
  /**
   * Keeps one such namespace and runs git in it with these arguments and those of each line, where
   * a new namespace would cost more than git itself. Git must end its output fields with NULs, and
   * the words of a line must be plain names.
   */
  gitLoop(room: GitRoom, args: readonly string[]): Promise<Loop>;
  /** Runs a program over a private folder, within the walls of granted programs; its writes are discarded. */
  check(
    what: {
      readonly folder: string;
      /** The folder's name inside the walls: /m/NAME, the program's working folder. */
      readonly name: string;
      readonly command: readonly string[];
      readonly seconds: number;
    },
  ): Promise<Ran>;
  /** Creates a fresh private folder with exactly these files. */
  plant(folder: string, files: AsyncIterable<Planted> | Iterable<Planted>): Promise<void>;
  /** Removes a folder; absent is fine. */
  clear(folder: string): Promise<void>;
  /** Names in a folder, sorted; empty if the folder does not exist. */
  names(folder: string): readonly string[];
  /** Reads a plain file (no link) of at most `most` bytes; undefined if there is none. */
  read(path: string, most: number): Uint8Array | undefined;
  /** The kind of a path itself, without following links. */
  kind(path: string): "file" | "folder" | "link" | undefined;
  write(path: string, text: string): void;
  /** Writes an immutable file durably, unless it exists. */
  keep(path: string, bytes: Uint8Array): void;
  /** Replaces a file's content `from` by `to`, durably, under git's own lock (PATH.lock); false for any other content. */
  swap(path: string, to: string, from: string): boolean;
  /** Opens a journal for appending; drops a last line that a crash cut off. */
  journal(path: string): Journal;
  /** The lines of a journal that another process may be writing. */
  past(path: string): readonly string[];
  /** Locks a file; undefined while another process holds the lock. */
  lock(path: string): Disposable | undefined;
  now(): number;
  rest(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The kernel's walls, passed in by the process's wiring. */
export interface SwarmWalls {
  /** The command line for git. Throws Fault `unavailable` without walls. */
  gitLine(
    room: GitRoom,
    git: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Line>;
  /** The command line for a check, and whether its folder must be accessible to everyone because the check runs as nobody. */
  checkLine(
    check: {
      readonly work: string;
      readonly name: string;
      readonly program: string;
      readonly args: readonly string[];
    },
  ): Promise<{ readonly line: Line; readonly open: boolean }>;
  /** The absolute path of a program of this machine; undefined where there is none. */
  find(name: string): string | undefined;
}

const MiB = 1024 * 1024;
const GIT_SECONDS = 300, GIT_BYTES = 512 * MiB, CHECK_BYTES = 4 * MiB;

/** Git's only configuration besides the mirror's own file. */
const GIT_ENV: Readonly<Record<string, string>> = Object.freeze({
  HOME: "/nonexistent",
  PATH: "/usr/bin:/bin",
  LANG: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "",
  GIT_PAGER: "cat",
  // `swap` requires branches to be files, whatever git's default format is.
  GIT_DEFAULT_REF_FORMAT: "files",
  GIT_DIR: "/mirror",
});
const GIT_FLAGS = [
  ...["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"],
  ...["-c", "core.attributesFile=/dev/null", "-c", "protocol.allow=never"],
  ...["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "submodule.recurse=false"],
  ...["-c", "safe.directory=/mirror", "-c", "core.protectNTFS=true", "-c", "core.protectHFS=true"],
];

/** `$0` is git. An answer ends with an empty field and the exit code. */
const LOOP = `while read -r words; do "$0" "$@" $words; printf '\\0=%d\\0' $?; done`;

/** Makes the powers of a swarm. */
export function makeSwarmPowers(walls: SwarmWalls): SwarmPowers {
  const found = (name: string): string => {
    const path = walls.find(name);
    if (path !== undefined) return path;
    throw new Fault(
      "unavailable",
      `Cannot work on a repository: ${name} is not installed here; install it (git 2.38 or newer), and try again`,
    );
  };
  return Object.freeze<SwarmPowers>({
    async gitLoop(room, args): Promise<Loop> {
      const words = ["-fc", LOOP, found("git"), ...GIT_FLAGS, ...args];
      const line = await walls.gitLine(room, found("sh"), words, GIT_ENV);
      return startLoop(line, { seconds: GIT_SECONDS, bytes: GIT_BYTES });
    },
    async git(room, args, input = new Uint8Array()): Promise<Ran> {
      const git = found("git");
      const env = room.objects === undefined
        ? GIT_ENV
        : { ...GIT_ENV, GIT_ALTERNATE_OBJECT_DIRECTORIES: "/objects" };
      const line = await walls.gitLine(room, git, [...GIT_FLAGS, ...args], env);
      return await run(line, { input, seconds: GIT_SECONDS, bytes: GIT_BYTES });
    },
    async check({ folder, name, command, seconds }): Promise<Ran> {
      const [first = "", ...args] = command;
      const program = first.startsWith("/") ? realFile(first) : walls.find(first);
      if (program === undefined) {
        throw new Fault(
          "notFound",
          `Cannot run the check ${
            JSON.stringify(first)
          }: no such program on this machine; name it as it is found in PATH`,
        );
      }
      const { line, open } = await walls.checkLine({ work: dirname(folder), name, program, args });
      if (open) openToAll(folder);
      return await run(line, { input: new Uint8Array(), seconds, bytes: CHECK_BYTES });
    },
    async plant(folder, files): Promise<void> {
      await remove(folder);
      Deno.mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
      Deno.mkdirSync(folder, { mode: 0o700 });
      const made = new Set<string>();
      for await (const { path, bytes, kind } of files) {
        const whole = join(folder, path), above = dirname(whole);
        if (!made.has(above)) {
          Deno.mkdirSync(above, { recursive: true, mode: 0o700 });
          made.add(above);
        }
        if (kind === "link") {
          Deno.symlinkSync(new TextDecoder().decode(bytes), whole);
          continue;
        }
        Deno.writeFileSync(whole, bytes, {
          createNew: true,
          mode: kind === "program" ? 0o700 : 0o600,
        });
      }
    },
    clear: remove,
    names: (folder) =>
      absentAs([], () => Array.from(Deno.readDirSync(folder), (each) => each.name))
        .toSorted(),
    read(path, most): Uint8Array | undefined {
      return absentAs(undefined, () => {
        const found = Deno.lstatSync(path);
        if (!found.isFile || found.size > most) {
          throw new Fault(
            "refused",
            `Cannot read ${JSON.stringify(path)}: no file of ${most} bytes`,
          );
        }
        return Deno.readFileSync(path);
      });
    },
    kind: (path) =>
      absentAs(undefined, () => {
        const { isFile, isDirectory, isSymlink } = Deno.lstatSync(path);
        return isSymlink ? "link" : isDirectory ? "folder" : isFile ? "file" : undefined;
      }),
    write(path, text): void {
      Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      Deno.writeTextFileSync(`${path}.new`, text, { mode: 0o600 });
      Deno.renameSync(`${path}.new`, path);
    },
    keep(path, bytes): void {
      if (absentAs(false, () => Deno.lstatSync(path).isFile)) return;
      Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeDurably(`${path}.new`, bytes, { create: true, truncate: true });
      Deno.renameSync(`${path}.new`, path);
    },
    swap(path, to, from): boolean {
      const lock = `${path}.lock`;
      try {
        writeDurably(lock, new TextEncoder().encode(to), { createNew: true });
      } catch (error) {
        if (error instanceof Deno.errors.AlreadyExists) return false;
        throw error;
      }
      if (absentAs("", () => Deno.readTextFileSync(path)) !== from) {
        Deno.removeSync(lock);
        return false;
      }
      Deno.renameSync(lock, path);
      return true;
    },
    journal,
    past: (path) => wholeLines(absentAs("", () => Deno.readTextFileSync(path))),
    lock(path): Disposable | undefined {
      Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
      if (file.tryLockSync(true)) return { [Symbol.dispose]: () => file.close() };
      file.close();
      return undefined;
    },
    now: () => Date.now(),
    rest(ms, signal): Promise<void> {
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener("abort", done);
      });
    },
  });
}

function absentAs<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return otherwise;
    }
    throw error;
  }
}

function realFile(path: string): string | undefined {
  return absentAs(undefined, () => {
    const real = Deno.realPathSync(path);
    return Deno.statSync(real).isFile ? real : undefined;
  });
}

function writeDurably(
  path: string,
  bytes: Uint8Array,
  how: Pick<Deno.OpenOptions, "create" | "createNew" | "truncate">,
): void {
  using file = Deno.openSync(path, { ...how, write: true, mode: 0o600 });
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
  file.syncDataSync();
}

async function remove(folder: string): Promise<void> {
  try {
    await Deno.remove(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Opens a throw-away folder to checks that run as nobody. */
function openToAll(folder: string): void {
  const todo = [folder];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    Deno.chmodSync(at, 0o777);
    for (const { name, isDirectory, isFile } of Deno.readDirSync(at)) {
      const path = join(at, name);
      if (isDirectory) todo.push(path);
      if (isFile) {
        Deno.chmodSync(path, ((Deno.statSync(path).mode ?? 0) & 0o100) === 0 ? 0o666 : 0o777);
      }
    }
  }
}

function wholeLines(text: string): readonly string[] {
  return text.slice(0, text.lastIndexOf("\n") + 1).split("\n").filter((line) => line !== "");
}

function journal(path: string): Journal {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = Deno.openSync(path, { create: true, read: true, write: true, mode: 0o600 });
  const bytes = Deno.readFileSync(path);
  // A crash between two writes leaves half a line.
  const whole = bytes.lastIndexOf(10) + 1;
  if (whole < bytes.length) file.truncateSync(whole);
  file.seekSync(whole, Deno.SeekMode.Start);
  const lines = wholeLines(new TextDecoder().decode(bytes.subarray(0, whole)));
  let before: Promise<void> = Promise.resolve();
  const write = async (line: string): Promise<void> => {
    const whole = new TextEncoder().encode(`${line}\n`);
    for (let at = 0; at < whole.length;) at += await file.write(whole.subarray(at));
    await file.syncData();
  };
  return Object.freeze<Journal>({
    lines,
    append: (line) => before = before.then(() => write(line)),
    close: () => file.close(),
  });
}
