/** What the commands over imported servers are handed beside the rest: fetching, trees, programs. @module */
import type { McpTree } from "../../../../contracts/exchange/mod.ts";
import type { Places } from "../../../../launch/disk/places.ts";
import type { DiskRead, DiskWrite, Environment } from "../../../../launch/disk/machine.ts";

/** What the registry of imported servers works with; each function picks of it what it needs. */
export interface RegistryPowers {
  readonly disk: DiskRead & DiskWrite;
  readonly environment: Pick<Environment, "cwd" | "env" | "home" | "now">;
  readonly store: McpStore;
  readonly places: Places;
}

/** How a step of a fetch is run: in a namespace of its own, as nobody who may read or write anything else. */
export interface FetchStep {
  readonly program: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Bound at the same path, or at another: read-only. */
  readonly reads: readonly { readonly from: string; readonly at: string }[];
  /** The one folder that it may write, if any. */
  readonly writes?: { readonly from: string; readonly at: string };
  readonly net: boolean;
  /** Written to its standard input. */
  readonly input?: string;
  readonly deadlineMs: number;
}

/** What became of a step. `out` and `said` are untrusted and capped. */
export interface FetchStepEnd {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** A program of this machine. */
export interface FoundProgram {
  /** Absolute and real. */
  readonly path: string;
  readonly sha256: string;
}

/** What a tree is called: `PREFIX-HASH` in the folder `trees`. */
export interface TreeName {
  readonly trees: string;
  readonly prefix: string;
}

/** A Python of this machine. */
export interface FoundPython extends FoundProgram {
  /** `3.11`. */
  readonly version: string;
  /** Absolute folders that it is made of beside the machine's libraries: its prefix, a virtual environment. */
  readonly folders: readonly string[];
  /** Where a virtual environment keeps packages. */
  readonly packages: readonly string[];
  readonly pip: boolean;
}

/** Everything about imported servers that is not on the ordinary disk. */
export interface McpStore {
  /** Runs `work` while no other process is in `folder` so; waits for its turn. */
  exclusively<T>(folder: string, work: () => T): T;
  /**
   * Runs one step. It ends when its folder grows past {@link TREE_BYTES}.
   * Throws Fault `unavailable` without bubblewrap, `timedOut`, `tooLarge`, `cancelled`.
   */
  step(step: FetchStep): Promise<FetchStepEnd>;
  /** A fresh folder `.new-…` within `trees`. */
  draft(trees: string): string;
  /** Names of files beneath a folder, relative, without following links. Throws `tooLarge` past {@link TREE_FILES}. */
  files(folder: string): readonly { readonly path: string; readonly bytes: number }[];
  /** Makes a draft read-only and gives it its name, made of its hash; whole or not at all. */
  keep(draft: string, to: TreeName): McpTree;
  /** Removes a tree or a draft, read-only as it is. Nothing when there is none. */
  drop(folder: string): void;
  /** When a file or folder was last changed, milliseconds since 1970; undefined when there is none. */
  changedAt(path: string): number | undefined;
  /**
   * The SHA-256 of a plain file's bytes, hex; undefined when there is no such file. With `most`, of a file that anyone may
   * have put there: of so many bytes at most, and of the length and time of a longer one.
   */
  hashFile(path: string, options?: { readonly most?: number }): string | undefined;
  /** Finds a program by its name along PATH, or by its absolute path. */
  find(program: string): FoundProgram | undefined;
  /** Asks a Python what it is; undefined when it is none, or there is none. */
  python(program: string): Promise<FoundPython | undefined>;
  /** Builds what a kernel starts for imported servers, unless these sources have it. Throws `unavailable`. */
  ready(): Promise<void>;
  /** Of this process: `DENO_DIR` aside, what a Deno in a namespace is. */
  readonly deno: string;
}

/** Most bytes of one tree. */
export const TREE_BYTES = 500_000_000;
/** Most files of one tree. */
export const TREE_FILES = 100_000;
/** Milliseconds that fetching may take in all. */
export const FETCH_MS = 300_000;

/** Shared libraries and what finding a host and trusting it needs, where Linux distributions keep it. */
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
/** Bytes of one file: no archive that is worth fetching holds a longer one. */
const FILE_BYTES = 250_000_000;

/** The walls of a step. Programs are absolute. */
interface FetchWalls {
  readonly bwrap: string;
  readonly prlimit?: string | undefined;
}

/** Where a step finds the certificate of the caller's own network. */
const AUTHORITY = "/authority.pem";

/** A step that reaches the network, trusting whom its caller trusts by `authority`, a file. */
export function trusting(step: FetchStep, authority: string | undefined): FetchStep {
  if (!step.net || authority === undefined) return step;
  return {
    ...step,
    env: { ...step.env, DENO_CERT: AUTHORITY },
    reads: [...step.reads, { from: authority, at: AUTHORITY }],
  };
}

/**
 * A namespace that sees the step's own files, may write one folder, and has the network only if the step needs it:
 * no home, no other process, no capability.
 */
export function fetchLine(
  step: FetchStep,
  { bwrap, prlimit }: FetchWalls,
): { readonly program: string; readonly args: readonly string[] } {
  const limits = prlimit === undefined
    ? []
    : [prlimit, "--core=0", "--nofile=4096", `--fsize=${FILE_BYTES}`, "--"];
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
