/**
 * The command line of a process that a command starts without the kernel: limits, walls, and Deno
 * with given permissions. Used by cli/mcp_serve/gateway_process.ts and
 * memory-wiki/host/process/line.ts.
 * @module
 */
import { CHILD_FLAGS } from "../../contracts/base/mod.ts";

/** A program with its arguments and its whole environment. */
export interface WalledLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The programs and paths for such a command line. Programs are absolute; one that does not work here is absent. */
export interface WalledParts {
  readonly programs: {
    readonly deno: string;
    readonly bwrap?: string | undefined;
    readonly setpriv?: string | undefined;
    readonly prlimit?: string | undefined;
  };
  readonly bundle: string;
  readonly denoDir: string;
  /** The kernel's function: the arguments of a namespace that holds only Deno; `inside` says where. */
  readonly namespace: (
    bwrap: string,
    deno: string,
    env: Readonly<Record<string, string>>,
    sharing?: readonly string[],
  ) => readonly string[];
  readonly inside: { readonly deno: string; readonly denoDir: string };
}

/** The permissions and limits of one process. */
export interface WalledRights {
  /** Deno's flags, with its permissions; the environment is always ignored. */
  readonly flags: readonly string[];
  /** Limits: open files; WASM pages; sizes in MiB of V8's heap, of data, of a written file. */
  readonly max: {
    readonly files: number;
    readonly heap: number;
    readonly pages: number;
    readonly data: number;
    readonly file: number;
  };
  /** bubblewrap arguments that share something with the machine. */
  readonly sharing?: readonly string[];
  /** Binds as bubblewrap arguments: `under` come before the program's own files, `over` after them. */
  readonly under?: readonly string[];
  readonly over?: readonly string[];
}

const MiB = 1024 * 1024;

/** The command line for these parts and permissions. */
export function walledLine(parts: WalledParts, rights: WalledRights): WalledLine {
  const { programs, bundle, denoDir, inside } = parts;
  const { bwrap, deno, setpriv, prlimit } = programs;
  const { flags, max, sharing = [], under = [], over = [] } = rights;
  const walled = bwrap !== undefined;
  const env = {
    DENO_DIR: walled ? inside.denoDir : denoDir,
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
  };
  const inner = [
    walled ? inside.deno : deno,
    ...["run", ...CHILD_FLAGS, "--ignore-env"],
    ...flags,
    `--v8-flags=--max-old-space-size=${max.heap},--wasm-max-mem-pages=${max.pages}`,
    bundle,
  ];
  const limits = prlimit === undefined ? [] : [
    ...[prlimit, "--core=0", `--nofile=${max.files}`],
    ...[`--data=${max.data * MiB}`, `--fsize=${max.file * MiB}`, "--"],
  ];
  const wall = bwrap === undefined
    ? (setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"])
    : [
      ...parts.namespace(bwrap, deno, env, sharing),
      ...["--tmpfs", "/tmp", ...under],
      ...["--ro-bind", bundle, bundle, "--ro-bind", denoDir, inside.denoDir, ...over],
      ...["--remount-ro", "/", "--chdir", "/", "--"],
    ];
  // Limits come before the wall: they are inherited, and the namespace has no prlimit.
  const [program = deno, ...args] = [...limits, ...wall, ...inner];
  return { program, args, env: walled ? {} : env };
}

/** Deno's flags that deny these permissions. */
export function denying(...names: readonly string[]): readonly string[] {
  return names.map((name) => `--deny-${name}`);
}
