/** The command line of a process that a command starts by itself: limits, a wall, and Deno with the rights that it is given. @module */
import { CHILD_FLAGS } from "../../contracts/base/mod.ts";

/** A program with its arguments and its whole environment. */
export interface WalledLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What every such line is made of. Programs are absolute; one that does not work here is absent. */
export interface WalledParts {
  readonly programs: {
    readonly deno: string;
    readonly bwrap?: string | undefined;
    readonly setpriv?: string | undefined;
    readonly prlimit?: string | undefined;
  };
  readonly bundle: string;
  readonly denoDir: string;
  /** The kernel's: a namespace that holds Deno and nothing else, and where Deno is in it. */
  readonly namespace: (
    bwrap: string,
    deno: string,
    env: Readonly<Record<string, string>>,
    sharing?: readonly string[],
  ) => readonly string[];
  readonly inside: { readonly deno: string; readonly denoDir: string };
}

/** What one process is given. */
export interface WalledRights {
  /** Deno's flags, its permissions among them; the environment is ignored in any case. */
  readonly flags: readonly string[];
  /** Files that it may have open; pages of WASM; sizes in MiB, of V8's heap, of its data, of a file that it writes. */
  readonly most: {
    readonly files: number;
    readonly heap: number;
    readonly pages: number;
    readonly data: number;
    readonly file: number;
  };
  /** Arguments of bubblewrap's that share something with the machine. */
  readonly sharing?: readonly string[];
  /** Binds, as bubblewrap's arguments, beneath the program's own files, and over them. */
  readonly under?: readonly string[];
  readonly over?: readonly string[];
}

const MiB = 1024 * 1024;

/** Makes it. */
export function walledLine(parts: WalledParts, rights: WalledRights): WalledLine {
  const { programs, bundle, denoDir, inside } = parts;
  const { bwrap, deno, setpriv, prlimit } = programs;
  const { flags, most, sharing = [], under = [], over = [] } = rights;
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
    `--v8-flags=--max-old-space-size=${most.heap},--wasm-max-mem-pages=${most.pages}`,
    bundle,
  ];
  const limits = prlimit === undefined ? [] : [
    ...[prlimit, "--core=0", `--nofile=${most.files}`],
    ...[`--data=${most.data * MiB}`, `--fsize=${most.file * MiB}`, "--"],
  ];
  const wall = bwrap === undefined
    ? (setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"])
    : [
      ...parts.namespace(bwrap, deno, env, sharing),
      ...["--tmpfs", "/tmp", ...under],
      ...["--ro-bind", bundle, bundle, "--ro-bind", denoDir, inside.denoDir, ...over],
      ...["--remount-ro", "/", "--chdir", "/", "--"],
    ];
  // Limits stand before the wall: they are inherited, and the namespace has no such program.
  const [program = deno, ...args] = [...limits, ...wall, ...inner];
  return { program, args, env: walled ? {} : env };
}

/** Deno's flags that deny these permissions. */
export function denying(...names: readonly string[]): readonly string[] {
  return names.map((name) => `--deny-${name}`);
}
