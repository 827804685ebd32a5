/** The parts of every child's start line: walls, sizes, Deno's flags. @module */
import { CHILD_FLAGS, WASM_PAGES } from "../../../contracts/base/built_program.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { type Filter, FILTERING, opening } from "./seccomp.ts";
import type { Walls } from "./walls.ts";

/** The kinds of children. */
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

/** Roles with fixed sizes: Remit's own programs, and imported servers of npm. */
export type SizedRole = Exclude<Role, "browser"> | "mcpServer";

/** Limits of each kind of child, without a model's weights. */
export const SIZES: Readonly<Record<SizedRole, Sizes>> = {
  worker: { heap: 128, pages: WASM_PAGES.worker, data: 1_024, file: 64 },
  toolhost: { heap: 256, pages: WASM_PAGES.toolhost, data: 2_048, file: 1_024 },
  model: { heap: 256, pages: WASM_PAGES.model, data: 1_024, file: 64 },
  plugin: { heap: 256, pages: WASM_PAGES.plugin, data: 2_048, file: 64 },
  net: { heap: 256, pages: WASM_PAGES.net, data: 1_024, file: 64 },
  // Holds pages of rows while they are sent.
  store: { heap: 512, pages: WASM_PAGES.store, data: 1_536, file: 64 },
  // Holds the index of some thousand pages; its database is one file.
  wiki: { heap: 2_048, pages: WASM_PAGES.wiki, data: 6_144, file: 65_536 },
  // Client of one imported server: a result of 16 MB exists several times while it is parsed.
  mcp: { heap: 256, pages: WASM_PAGES.mcp, data: 1_024, file: 64 },
  mcpTree: { heap: 256, pages: WASM_PAGES.mcpTree, data: 1_024, file: 64 },
  // Client of one peer: the same bounds.
  a2a: { heap: 256, pages: WASM_PAGES.a2a, data: 1_024, file: 64 },
  // An imported server of npm. Other servers: see `lineOfMcpProgram`.
  mcpServer: { heap: 512, pages: WASM_PAGES.mcpServer, data: 2_048, file: 1_024 },
  remote: { heap: 256, pages: WASM_PAGES.remote, data: 1_024, file: 64 },
  // Without the weights, whose size is added.
  local: { heap: 512, pages: WASM_PAGES.local, data: 1_792, file: 64 },
  native: { heap: 256, pages: WASM_PAGES.native, data: 1_024, file: 64 },
};

/**
 * A child's bundle keeps its own path in the namespace, which may begin with any name, so Remit's
 * other files lie in a folder that exists on no machine.
 */
export const INSIDE = "/.remit-inside";

/** Paths inside a child's namespace. */
export const NAMESPACE = {
  deno: `${INSIDE}/deno`,
  denoDir: `${INSIDE}/dd`,
  broker: "/run/broker.sock",
  content: `${INSIDE}/content`,
  scratch: `${INSIDE}/scratch`,
  /** Holds each mount under its name. */
  mounts: `${INSIDE}/m`,
};

/** Shared libraries that the deno executable loads, in the folders of Linux distributions. */
const LIBRARIES = ["/lib", "/lib64", "/usr/lib"];

/**
 * A namespace that holds the deno executable, its libraries and nothing else. `env`: with `kept` the environment passes
 * through from the line's own, for values that a list of processes must not show.
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

/** The parts of the configuration that every wall needs. */
export type WallConfig = Pick<KernelConfig, "programs" | "dir" | "mark">;

/**
 * Arguments of bubblewrap without an effect, by which leftovers of a kernel are found. The variable
 * is unset before the program starts.
 */
export function marking({ mark }: Pick<KernelConfig, "mark">): readonly string[] {
  return mark === undefined ? [] : ["--setenv", "REMIT_MARK", mark, "--unsetenv", "REMIT_MARK"];
}

/** Adds the mark, and a filter of system calls, to a wall whose first word is bubblewrap. */
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

/** The complete environment of a Deno child. */
export function environment(denoDir: string): Record<string, string> {
  return { DENO_DIR: denoDir, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
}

/** The words that run a bundle with Deno. `rights` are permission flags; a permission broker overrides all of them. */
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

/** Deno's flags for no permission at all. */
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
 * Roles on whose computing a person waits keep the kernel's own priority: at nice 10, a busy
 * machine would give an engine a tenth of a core.
 */
const COMPUTING: ReadonlySet<SizedRole> = new Set<SizedRole>(["local", "native"]);

/** The complete start line of a sized role. Bubblewrap dies with the kernel by itself and needs no setpriv. */
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
        // Each proxied connection takes two files.
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
