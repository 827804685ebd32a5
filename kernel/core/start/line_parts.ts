/** What every child's start line is made of: walls, sizes, Deno's flags. @module */
import { CHILD_FLAGS, WASM_PAGES } from "../../../contracts/base/built_program.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { type Filter, FILTERING, opening } from "./seccomp.ts";
import type { Walls } from "./walls.ts";

/** The kinds of children there are. */
export type Role =
  | "worker"
  | "toolhost"
  | "model"
  | "remote"
  | "local"
  | "native"
  | "plugin"
  | "net"
  | "store"
  | "wiki"
  | "mcp"
  | "mcpTree"
  | "a2a"
  | "browser";

/** A program with its arguments and its whole environment. */
export interface StartLine {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const MiB = 1024 * 1024;
/** MiB of V8 heap, 64 KiB pages of WASM memory, MiB of data in all, MiB of any file. */
export interface Sizes {
  readonly heap: number;
  readonly pages: number;
  readonly data: number;
  readonly file: number;
}
/** What has sizes: children of a fixed program, and imported servers. */
export type SizedRole = Exclude<Role, "browser"> | "mcpServer";

/** What a child of each kind may take, without the weights of a model. */
export const SIZES: Readonly<Record<SizedRole, Sizes>> = {
  worker: { heap: 128, pages: WASM_PAGES.worker, data: 1_024, file: 64 },
  toolhost: { heap: 256, pages: WASM_PAGES.toolhost, data: 2_048, file: 1_024 },
  model: { heap: 256, pages: WASM_PAGES.model, data: 1_024, file: 64 },
  plugin: { heap: 256, pages: WASM_PAGES.plugin, data: 2_048, file: 64 },
  net: { heap: 256, pages: WASM_PAGES.net, data: 1_024, file: 64 },
  // Holds pages of rows on their way.
  store: { heap: 512, pages: WASM_PAGES.store, data: 1_536, file: 64 },
  // Holds the index of some thousand pages; its database is one file.
  wiki: { heap: 2_048, pages: WASM_PAGES.wiki, data: 6_144, file: 65_536 },
  // Client of one imported server: a result of 16 MB is in it several times while it is parsed.
  mcp: { heap: 256, pages: WASM_PAGES.mcp, data: 1_024, file: 64 },
  mcpTree: { heap: 256, pages: WASM_PAGES.mcpTree, data: 1_024, file: 64 },
  // Client of one peer: the same bounds.
  a2a: { heap: 256, pages: WASM_PAGES.a2a, data: 1_024, file: 64 },
  // An imported server of npm. Other programs: see mcp_program_line.ts.
  mcpServer: { heap: 512, pages: WASM_PAGES.mcpServer, data: 2_048, file: 1_024 },
  remote: { heap: 256, pages: WASM_PAGES.remote, data: 1_024, file: 64 },
  // Without the weights, whose size is added.
  local: { heap: 512, pages: WASM_PAGES.local, data: 1_792, file: 64 },
  native: { heap: 256, pages: WASM_PAGES.native, data: 1_024, file: 64 },
};
/**
 * A child's program stands in its namespace under its own path, which may begin with any name: what
 * else the child finds lies in a folder that no machine has.
 */
export const INSIDE = "/.remit-inside";
/** Where a child in a namespace finds what is its own. */
export const NAMESPACE = {
  deno: `${INSIDE}/deno`,
  denoDir: `${INSIDE}/dd`,
  broker: "/run/broker.sock",
  content: `${INSIDE}/content`,
  scratch: `${INSIDE}/scratch`,
  /** In it each mount under its name. */
  mounts: `${INSIDE}/m`,
};
/** Shared libraries that the deno executable loads, where Linux distributions keep them. */
const LIBRARIES = ["/lib", "/lib64", "/usr/lib"];

/**
 * A namespace that holds the deno executable, its libraries and nothing else. `env`: `kept` is the line's own
 * environment, where values may stand that nobody shall read from a list of processes.
 */
export function namespace(
  bwrap: string,
  deno: string,
  env: Readonly<Record<string, string>> | "kept",
  sharing: readonly string[] = [],
): string[] {
  return [
    bwrap,
    ...["--unshare-all", ...sharing, "--new-session", "--die-with-parent"],
    ...["--cap-drop", "ALL"],
    ...(env === "kept" ? [] : [
      "--clearenv",
      ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ]),
    ...LIBRARIES.flatMap((folder) => ["--ro-bind-try", folder, folder]),
    ...["--ro-bind", deno, NAMESPACE.deno],
  ];
}

/** What every wall is made of. */
export type WallConfig = Pick<KernelConfig, "programs" | "dir" | "mark">;

/**
 * Arguments of bubblewrap that change nothing: whoever looks for what a kernel left knows it by them. The variable is
 * gone before the program starts.
 */
export function marking({ mark }: Pick<KernelConfig, "mark">): readonly string[] {
  return mark === undefined ? [] : ["--setenv", "REMIT_MARK", mark, "--unsetenv", "REMIT_MARK"];
}

/** A wall, whose first word is bubblewrap, with its mark, and a filter of system calls on what it starts. */
export function filtered(
  config: WallConfig,
  filter: Filter | undefined,
  [bwrap = "", ...wall]: readonly string[],
): readonly string[] {
  const marked = [bwrap, ...marking(config)];
  return filter === undefined
    ? [...marked, ...wall]
    : [...opening(config.dir, filter), ...marked, ...FILTERING, ...wall];
}

/** The whole environment of a child. */
export function environment(denoDir: string): Record<string, string> {
  return { DENO_DIR: denoDir, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
}

/** `rights` are permission flags; a permission broker overrides all of them. */
export function denoLine(
  deno: string,
  role: SizedRole,
  bundle: string,
  rights: readonly string[],
  { heap, pages }: Sizes = SIZES[role],
): readonly string[] {
  return [
    deno,
    "run",
    ...CHILD_FLAGS,
    ...rights,
    `--v8-flags=--max-old-space-size=${heap},--wasm-max-mem-pages=${pages}`,
    bundle,
  ];
}

/** Flags of a child that has no right at all. */
export const DENIED = [
  "--deny-read",
  "--deny-write",
  "--deny-net",
  "--deny-env",
  "--deny-run",
  "--deny-sys",
  "--deny-ffi",
  "--deny-import",
];

/**
 * What computes for whoever waits for an answer keeps the kernel's own priority: ten nicer, a busy machine would give an
 * engine a tenth of a core.
 */
const COMPUTING: ReadonlySet<SizedRole> = new Set<SizedRole>(["local", "native"]);

/** Bubblewrap ends its child with the kernel by itself, and then needs no setpriv. */
export function started(
  config: Pick<KernelConfig, "programs">,
  walls: Walls,
  role: SizedRole,
  inner: readonly string[],
  env: Readonly<Record<string, string>>,
  { data, file }: Sizes = SIZES[role],
): StartLine {
  const { setpriv, nice, prlimit } = config.programs;
  const [program = "", ...args] = [
    ...(walls.setpriv && setpriv !== undefined ? [setpriv, "--pdeathsig", "KILL", "--"] : []),
    ...(walls.nice && nice !== undefined && !COMPUTING.has(role) ? [nice, "-n", "10"] : []),
    ...(walls.prlimit && prlimit !== undefined
      ? [
        prlimit,
        "--core=0",
        // Each connection of a proxy takes two.
        `--nofile=${role === "net" ? 1_024 : 256}`,
        `--data=${data * MiB}`,
        `--fsize=${file * MiB}`,
        "--",
      ]
      : []),
    ...inner,
  ];
  return { program, args, env };
}
