/** The command line that starts a wiki's process, and the paths that it sees. Issue 5. @module */
import { Fault } from "../../contracts/mod.ts";

/** A program with its arguments and its whole environment. */
export interface WikiLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Real paths → the paths inside, where they differ. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** What a line is made of. Programs are absolute; one that does not work here is absent. */
export interface WikiLineParts {
  readonly programs: {
    readonly deno: string;
    readonly bwrap?: string | undefined;
    readonly setpriv?: string | undefined;
    readonly prlimit?: string | undefined;
  };
  readonly bundle: string;
  readonly denoDir: string;
  readonly folder: string;
  readonly stateFolder: string;
  readonly reads: readonly string[];
  /** The kernel's: a namespace that holds Deno and nothing else, and where Deno is in it. */
  readonly namespace: (
    bwrap: string,
    deno: string,
    env: Readonly<Record<string, string>>,
  ) => readonly string[];
  readonly inside: { readonly deno: string; readonly denoDir: string };
}

const MiB = 1024 * 1024;
/** MiB of V8's heap. An index of 10,000 pages takes a few hundred. */
const HEAP = 2_048;
const DATA = 6_144;
/** The database of 500,000 passages has some GiB. */
const FILE = 64 * 1_024;
const DENIED = ["net", "env", "run", "sys", "ffi", "import"].map((name) => `--deny-${name}`);
/** Deno splits lists of paths here, and knows no escape. */
const COMMA = ",";

/** Makes it. Throws `refused` for a path with a comma where no namespace can give it another name. */
export function wikiLine(parts: WikiLineParts): WikiLine {
  const { programs, folder, stateFolder } = parts;
  const { bwrap, deno, setpriv, prlimit } = programs;
  const walled = bwrap !== undefined;
  const aliases = new Map<string, string>();
  const name = (path: string, alias: string): string => {
    if (!path.includes(COMMA)) return path;
    if (!walled) {
      throw new Fault(
        "refused",
        `Cannot grant "${path}": it has a comma in it, and this machine has no bubblewrap to give it another name`,
      );
    }
    aliases.set(path, alias);
    return alias;
  };
  const own = [name(folder, "/wiki/folder"), name(stateFolder, "/wiki/state")];
  const reads = parts.reads.map((path, n) => name(path, `/wiki/read/${n}`));
  const env = {
    DENO_DIR: walled ? parts.inside.denoDir : parts.denoDir,
    NO_COLOR: "1",
    DENO_NO_UPDATE_CHECK: "1",
  };
  const inner = [
    walled ? parts.inside.deno : deno,
    ...["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote"],
    ...["--no-npm", "--cached-only", "--ignore-env"],
    `--allow-read=${[...own, ...reads].join(COMMA)}`,
    `--allow-write=${own.join(COMMA)}`,
    ...DENIED.filter((each) => each !== "--deny-env"),
    `--v8-flags=--max-old-space-size=${HEAP}`,
    parts.bundle,
  ];
  const limits = prlimit === undefined ? [] : [
    ...[prlimit, "--core=0", "--nofile=1024", `--data=${DATA * MiB}`, `--fsize=${FILE * MiB}`],
    "--",
  ];
  const wall = bwrap === undefined
    ? (setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"])
    : [
      ...parts.namespace(bwrap, deno, env),
      ...["--tmpfs", "/tmp"],
      // What may be read first, so that what may be written and what runs lies over it.
      ...parts.reads.flatMap((path, n) => ["--ro-bind", path, reads[n] ?? path]),
      ...["--ro-bind", parts.bundle, parts.bundle],
      ...["--ro-bind", parts.denoDir, parts.inside.denoDir],
      ...[folder, stateFolder].flatMap((path, n) => ["--bind", path, own[n] ?? path]),
      // Node's layer, which SQLite comes with, looks where its own executable is, and ends if it cannot.
      ...["--symlink", parts.inside.deno, "/proc/self/exe"],
      ...["--remount-ro", "/", "--chdir", "/", "--"],
    ];
  // Limits stand before the wall: they are inherited, and the namespace has no such program.
  const [program = deno, ...args] = [...limits, ...wall, ...inner];
  return { program, args, env: walled ? {} : env, aliases };
}

/** The path by which the process knows a real path: through the longest alias that holds it. */
export function insidePath(aliases: WikiLine["aliases"], path: string): string {
  const holding = [...aliases.keys()].filter((each) => path === each || path.startsWith(`${each}/`))
    .sort((a, b) => b.length - a.length)[0];
  return holding === undefined
    ? path
    : `${aliases.get(holding) ?? holding}${path.slice(holding.length)}`;
}
