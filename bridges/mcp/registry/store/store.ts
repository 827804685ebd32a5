/** The powers of the registry of imported servers: fetching, trees, programs. @module */
import type { McpTree } from "../../../../contracts/exchange/mod.ts";
import type { Places } from "../../../../launch/disk/places.ts";
import type { DiskRead, DiskWrite, Environment } from "../../../../launch/disk/machine.ts";

/** The powers of the registry; each function takes the part that it needs. */
export interface RegistryPowers {
  readonly disk: DiskRead & DiskWrite;
  readonly environment: Pick<Environment, "cwd" | "env" | "home" | "now">;
  readonly store: McpStore;
  readonly places: Places;
}

/** One step of a fetch, run in a namespace of its own. */
export interface FetchStep {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders bound read-only at a path. */
  readonly reads: readonly { readonly from: string; readonly at: string }[];
  /** The only writable folder, if any. */
  readonly writes?: { readonly from: string; readonly at: string };
  readonly net: boolean;
  /** Written to its standard input. */
  readonly input?: string;
  readonly deadlineMs: number;
}

/** The result of a step. `out` (standard output) and `said` (errors) are untrusted and bounded. */
export interface FetchStepEnd {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** A program of this machine. */
export interface FoundProgram {
  /** Absolute, without links. */
  readonly path: string;
  readonly sha256: string;
}

/** Where a tree goes: `PREFIX-HASH` in the folder `trees`. */
export interface TreeName {
  readonly trees: string;
  readonly prefix: string;
}

/** A Python of this machine. */
export interface FoundPython extends FoundProgram {
  /** `3.11`. */
  readonly version: string;
  /** Its prefix and virtual environment, absolute. */
  readonly folders: readonly string[];
  /** Folders of packages of a virtual environment. */
  readonly packages: readonly string[];
  readonly pip: boolean;
}

/** The powers over imported servers' programs beyond the ordinary disk. */
export interface McpStore {
  /** Runs `work` while holding a lock on `folder`; waits for the lock. */
  exclusively<T>(folder: string, work: () => T): T;
  /**
   * Runs one step and stops it when its folder grows past {@link TREE_BYTES}.
   * Throws Fault `unavailable` without bubblewrap, `timedOut`, `tooLarge`, `cancelled`.
   */
  step(step: FetchStep): Promise<FetchStepEnd>;
  /** Makes a new folder `.new-…` within `trees`. */
  draft(trees: string): string;
  /** Files beneath a folder, relative; links are not followed. Throws `tooLarge` past {@link TREE_FILES}. */
  files(folder: string): readonly { readonly path: string; readonly bytes: number }[];
  /** Makes a draft read-only and moves it to its final name, atomically. */
  keep(draft: string, to: TreeName): McpTree;
  /** Removes a tree or draft, also a read-only one; nothing if it is missing. */
  drop(folder: string): void;
  /** The time of the last change, milliseconds since 1970; undefined without the file. */
  changedAt(path: string): number | undefined;
  /**
   * The SHA-256 of a plain file, hex; undefined without it. `max` bounds the bytes of a file that
   * anyone may have put there: of a longer one, length and time are hashed in place of the rest.
   */
  hashFile(path: string, options?: { readonly max?: number }): string | undefined;
  /** Finds a program by its name along PATH, or by its absolute path. */
  find(program: string): FoundProgram | undefined;
  /** Asks a Python about itself; undefined when there is none that works. */
  python(program: string): Promise<FoundPython | undefined>;
  /** Builds the programs that a kernel starts for imported servers, if they are outdated. Throws `unavailable`. */
  ready(): Promise<void>;
  /** The real path of this process's Deno. */
  readonly deno: string;
}

/** Bytes of one tree, at most. */
export const TREE_BYTES = 500_000_000;
/** Files of one tree, at most. */
export const TREE_FILES = 100_000;
/** Milliseconds of one step, at most. */
export const FETCH_MS = 300_000;

/** Shared libraries, and files for resolving and trusting hosts, on Linux distributions. */
const LIBRARIES = ["/lib", "/lib64", "/usr/lib"];
const NETWORK = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl",
  "/etc/pki",
  "/usr/share/ca-certificates",
  "/usr/local/share/ca-certificates",
];
/** Bytes of one file, at most; no useful archive holds a larger one. */
const MAX_FILE_BYTES = 250_000_000;

/** The programs that make a namespace and limits; absolute paths. */
interface FetchWalls {
  readonly bwrap: string;
  readonly prlimit?: string | undefined;
}

/** Path of the caller's own certificate authority inside a namespace. */
const AUTHORITY = "/authority.pem";

/** Lets a step with the network trust the certificate file `authority`, as its caller does. */
export function trusting(step: FetchStep, authority: string | undefined): FetchStep {
  if (!step.net || authority === undefined) return step;
  return {
    ...step,
    env: { ...step.env, DENO_CERT: AUTHORITY },
    reads: [...step.reads, { from: authority, at: AUTHORITY }],
  };
}

/**
 * The command line of a step: a namespace with the step's own files, one writable folder, and the
 * network only if needed; no home, no other process, no capability.
 */
export function fetchLine(
  step: FetchStep,
  { bwrap, prlimit }: FetchWalls,
): { readonly program: string; readonly args: readonly string[] } {
  const limits = prlimit === undefined
    ? []
    : [prlimit, "--core=0", "--nofile=4096", `--fsize=${MAX_FILE_BYTES}`, "--"];
  const [program = bwrap, ...args] = [
    ...limits,
    bwrap,
    ...["--unshare-all", ...(step.net ? ["--share-net"] : [])],
    ...["--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"],
    ...Object.entries(step.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...[...LIBRARIES, ...(step.net ? NETWORK : [])].flatMap((
      path,
    ) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...step.reads.flatMap(({ from, at }) => ["--ro-bind", from, at]),
    ...(step.writes === undefined ? [] : ["--bind", step.writes.from, step.writes.at]),
    ...["--remount-ro", "/", "--chdir", "/tmp", "--"],
    ...[step.program, ...step.args],
  ];
  return { program, args };
}
