/**
 * The start lines of imported MCP servers that npm carries, and of the process that checks their trees.
 * docs/decision/0015.
 * @module
 */
import { cacheBeside, CHILD_FLAGS } from "../../../contracts/base/built_program.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { McpLaunch } from "../../../contracts/exchange/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import {
  above,
  BECOMING,
  COMMAND_ENV,
  COMMAND_PROCESSES,
  type CommandIdentity,
  countedApart,
  INNER,
  NOBODY,
  SETTINGS,
  started as startedCommand,
  SYSTEM,
} from "./command_line.ts";
import {
  DENIED,
  denoLine,
  environment,
  filtered,
  marking,
  NAMESPACE,
  namespace,
  SIZES,
  started,
  type StartLine,
  type WallConfig,
} from "./line_parts.ts";
import {
  type FileGrants,
  grantBinds,
  masking,
  type Masks,
  serverEnv,
  socketBinds,
} from "./mcp_binds.ts";
import { FILTERING, openingAside, speaking } from "./seccomp.ts";
import type { Walls } from "./walls.ts";

/** Where a server in a namespace finds the net service's socket, if it was granted hosts. */
export const NET_SOCKET = "/run/net.sock";
/**
 * The one place that every server of npm may write, its home: gone with its process. Not `/tmp`, where people have
 * files that can be granted.
 */
export const PRIVATE = "/private";
const PRIVATE_BYTES = 256 * 1024 * 1024;

/**
 * `fs.existsSync` throws in Deno where a read is refused; in Node.js it says false of whatever it cannot see, and
 * servers that only ask which system they are on end by that.
 */
const AS_NODE = `data:text/javascript,${
  encodeURIComponent(
    'import fs from "node:fs";const e=fs.existsSync;' +
      "fs.existsSync=function existsSync(p){try{return e(p)}catch{return false}};",
  )
}`;

/** What every server of this machine is started around. */
export interface ServerParts {
  readonly grants: FileGrants;
  /** Folders of Remit, which no grant may touch. */
  readonly own: readonly string[];
  /** Its environment, secrets included: it is in no argument, which a list of processes would show. */
  readonly env: Readonly<Record<string, string>>;
  /** The net service's socket for this very server. */
  readonly proxy?: string | undefined;
  /** Empty folders that stand where a server that is only looked at wants some: see mcp_server/look.ts. */
  readonly empty?: readonly string[];
  /** Unix sockets that it was granted. */
  readonly sockets?: readonly string[];
  /** What of what is bound it does not find. */
  readonly masks?: Masks;
}

/** A server of npm. */
interface NpmParts extends ServerParts {
  readonly launch: Extract<McpLaunch, { readonly kind: "npm" }>;
  /** Absolute: holds `npm` and `deno.lock`. */
  readonly tree: string;
  /** Absolute: where Deno's own caches of this tree lie, if there are any. Without them a start takes half as long again. */
  readonly warm: string;
  /** Deno may write them: while a server is only looked at. */
  readonly warms: boolean;
  /** The permission broker's socket of this very server. */
  readonly broker: string;
}

/**
 * The start line of a server of npm: `deno run npm:PACKAGE@VERSION`, within a namespace that holds its tree and what it
 * was granted, every access decided by the broker.
 *
 * @throws Fault `unavailable` without bubblewrap, `refused` for a grant or a variable that cannot be
 */
export function lineOfMcpNpm(
  config: WallConfig,
  walls: Walls,
  parts: NpmParts,
): StartLine {
  const { deno } = config.programs, { launch, proxy } = parts;
  const bwrap = walled(config, walls);
  const env = serverEnv(parts.env, {
    ...environment(NAMESPACE.denoDir),
    DENO_PERMISSION_BROKER_PATH: NAMESPACE.broker,
    ...{ HOME: PRIVATE, TMPDIR: PRIVATE },
    ...(launch.registry === undefined ? {} : { NPM_CONFIG_REGISTRY: launch.registry }),
    // Deno's fetch sends requests in absolute form over it, also such to https.
    ...(proxy === undefined
      ? {}
      : { HTTP_PROXY: `unix:${NET_SOCKET}`, HTTPS_PROXY: `unix:${NET_SOCKET}` }),
  });
  const bin = launch.bin === undefined ? "" : `/${launch.bin}`;
  const { heap, pages } = SIZES.mcpServer;
  const wall = [
    ...namespace(bwrap, deno, "kept"),
    ...["--hostname", "remit"],
    ...["--size", String(PRIVATE_BYTES), "--tmpfs", PRIVATE],
    ...(parts.empty ?? []).flatMap((path) => ["--size", "65536", "--tmpfs", path]),
    ...grantBinds(parts.grants, parts.own),
    ...masking(parts.masks),
    ...socketBinds(parts.sockets ?? [], parts.own),
    // The tree as Deno's folder of caches. No code of the server's can write there, whoever else may.
    ...["--size", String(32 * 1024 * 1024), "--tmpfs", NAMESPACE.denoDir],
    ...[parts.warms ? "--bind-try" : "--ro-bind-try", parts.warm, NAMESPACE.denoDir],
    ...["--ro-bind", `${parts.tree}/npm`, `${NAMESPACE.denoDir}/npm`],
    ...["--ro-bind", `${parts.tree}/deno.lock`, `${NAMESPACE.denoDir}/deno.lock`],
    ...(parts.warms ? [] : ["--remount-ro", NAMESPACE.denoDir]),
    ...["--bind", parts.broker, NAMESPACE.broker],
    ...(proxy === undefined ? [] : ["--bind", proxy, NET_SOCKET]),
    // Deno's Node.js layer looks where its own executable is, and ends if it cannot.
    ...["--symlink", NAMESPACE.deno, "/proc/self/exe"],
    ...["--remount-ro", "/", "--chdir", PRIVATE, "--"],
    ...[NAMESPACE.deno, "run", "--quiet", "--no-prompt", "--no-config", "--cached-only"],
    // What was resolved when the tree was fetched, and no other: it spares reading what each package once was.
    ...[`--lock=${NAMESPACE.denoDir}/deno.lock`, "--frozen"],
    `--v8-flags=--max-old-space-size=${heap},--wasm-max-mem-pages=${pages}`,
    `--preload=${AS_NODE}`,
    `npm:${launch.package}@${launch.version}${bin}`,
    ...launch.args,
  ];
  const inner = filtered(config, "broker", wall);
  return started(config, { ...walls, setpriv: false }, "mcpServer", inner, env);
}

/** The start line of the process that checks trees: it reads them, and of the machine one program, if one is given. */
export function lineOfMcpTree(
  config: WallConfig & Pick<KernelConfig, "bundles" | "mcpTrees">,
  walls: Walls,
  program?: string,
): StartLine {
  const { deno } = config.programs, { bundles: { mcpTree: bundle }, mcpTrees: trees } = config;
  const bwrap = walled(config, walls);
  const read = program === undefined ? trees : program;
  const wall = [
    ...namespace(bwrap, deno, environment(NAMESPACE.denoDir)),
    ...["--ro-bind", bundle, bundle],
    ...["--ro-bind-try", cacheBeside(bundle), NAMESPACE.denoDir],
    ...["--ro-bind", read, read],
    ...["--symlink", NAMESPACE.deno, "/proc/self/exe"],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "mcpTree", bundle, [
      ...["--ignore-env", `--allow-read=${read}`],
      ...DENIED.filter((flag) => flag !== "--deny-read" && flag !== "--deny-env"),
    ]),
    trees,
  ];
  const inner = filtered(config, "closed", wall);
  return started(config, { ...walls, setpriv: false }, "mcpTree", inner, {});
}

/** Bubblewrap. @throws Fault `unavailable` without it */
function walled(config: Pick<KernelConfig, "programs">, walls: Walls): string {
  const { bwrap } = config.programs;
  if (walls.bwrap && walls.filter && bwrap !== undefined) return bwrap;
  throw new Fault(
    "unavailable",
    "Cannot start an imported server: it needs bubblewrap and seccomp, which this machine lacks (see `remit doctor`)",
  );
}

// The start line of an imported server that is a program of this machine: the walls of command_line.ts around it,
// for as long as its task lasts. Its files are bound when it is started; nothing is decided later.

/** A program of this machine. */
interface ProgramParts extends ServerParts {
  readonly launch: Extract<McpLaunch, { readonly kind: "program" }>;
  /** Absolute: bound as `/tree`. */
  readonly tree?: string | undefined;
  /** `nobody` can read little and write nothing of the user's: for servers without any grant. */
  readonly identity: CommandIdentity;
}

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;
/** Whoever starts it, by this number: its files are still the starter's. */
const USER = "1000";
const TREE = "/tree";
const RELAY = "/relay/relay.js";

/**
 * The start line of a program.
 *
 * @throws Fault `unavailable` without bubblewrap and prlimit, `refused` for a grant or a variable that cannot be
 */
export function lineOfMcpProgram(
  config: WallConfig & Pick<KernelConfig, "bundles" | "denoDir">,
  walls: Walls,
  parts: ProgramParts,
): StartLine {
  const bwrap = walled(config, walls);
  const { prlimit = "", setpriv = "", deno } = config.programs;
  const { launch, tree, proxy, sockets = [] } = parts;
  if (sockets.length > 0 && parts.grants.read.length + parts.grants.write.length > 0) {
    throw new Fault(
      "refused",
      `Cannot start ${launch.program}: it holds a unix socket, and could connect to every other that comes to lie in ` +
        "the files that it was granted; grant it either, and import it twice where it needs both",
    );
  }
  const nobody = parts.identity === "nobody" && setpriv !== "";
  const inner = nobody ? { bwrap, prlimit, setpriv } : { bwrap, prlimit };
  const env = serverEnv(
    { ...COMMAND_ENV, ...launch.env, ...parts.env },
    proxy === undefined ? {} : { DENO_DIR: NAMESPACE.denoDir, DENO_NO_UPDATE_CHECK: "1" },
  );
  const line = startedCommand(config.programs, { data: 4 * GiB, file: GiB, files: 1_024 }, [
    ...openingAside(config.dir, sockets.length === 0 ? "program" : "holder"),
    ...[bwrap, ...marking(config)],
    // Not root within: the inner wall could not be made in its place.
    ...(nobody ? [] : ["--unshare-user", "--uid", USER, "--gid", USER]),
    ...["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--hostname", "remit", "--as-pid-1", "--new-session", "--die-with-parent"],
    ...["--cap-drop", "ALL"],
    ...(nobody ? [...BECOMING, "--cap-add", "CAP_SYS_ADMIN"] : []),
    ...["/etc", "/run", INNER].flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...SYSTEM.flatMap((folder) => ["--ro-bind-try", folder, folder]),
    ...SETTINGS.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(64 * MiB), "--perms", "1777", "--tmpfs", "/dev/shm"],
    ...["--remount-ro", "/dev"],
    ...["--size", String(256 * MiB), "--perms", "1777", "--tmpfs", "/tmp"],
    ...launch.folders.flatMap((path) => ["--ro-bind", path, path]),
    ...grantBinds(parts.grants, parts.own),
    ...masking(parts.masks),
    ...socketBinds(sockets, parts.own),
    ...above(launch.program).flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...["--ro-bind", launch.program, launch.program],
    ...(tree === undefined ? [] : ["--ro-bind", tree, TREE]),
    ...Object.entries(inner).flatMap(([name, path]) => ["--ro-bind", path, `${INNER}/${name}`]),
    ...(proxy === undefined ? [] : [
      ...["--bind", proxy, NET_SOCKET],
      ...["--ro-bind", deno, NAMESPACE.deno],
      ...["--ro-bind", config.bundles.mcpRelay, RELAY],
      ...["--ro-bind", config.denoDir, NAMESPACE.denoDir],
    ]),
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...(nobody
      ? [
        ...[`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/"],
        ...["--cap-drop", "ALL", ...BECOMING, "--"],
        ...[`${INNER}/setpriv`, "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"],
        ...countedApart(config),
      ]
      : []),
    ...[`${INNER}/prlimit`, `--nproc=${COMMAND_PROCESSES}`, "--"],
    ...(proxy === undefined ? [] : relayed(config)),
    ...[`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/"],
    ...["--unshare-user", "--disable-userns", ...FILTERING],
    ...["--cap-drop", "ALL", "--new-session", "--die-with-parent", "--chdir", "/tmp", "--"],
    ...[...speaking(), launch.program, ...launch.args],
  ]);
  return { ...line, env };
}

/**
 * The way out: it starts the program's inner wall and ends with it. It speaks to a unix socket, which that wall refuses
 * the program, and so stands outside of it.
 */
function relayed(config: WallConfig): readonly string[] {
  const bwrap = `${INNER}/bwrap`;
  return [
    ...[bwrap, ...marking(config), "--dev-bind", "/", "/", "--unshare-user"],
    ...["--cap-drop", "ALL", "--new-session", "--chdir", "/tmp", "--"],
    ...[NAMESPACE.deno, "run", ...CHILD_FLAGS, "--allow-env", `--allow-run=${bwrap}`],
    ...[`--allow-net=127.0.0.1,unix:${NET_SOCKET}`, `--allow-read=${NET_SOCKET}`],
    ...[`--allow-write=${NET_SOCKET}`, "--deny-sys", "--deny-ffi", "--deny-import"],
    ...["--v8-flags=--max-old-space-size=64", RELAY, NET_SOCKET],
  ];
}
