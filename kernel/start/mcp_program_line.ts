/**
 * The start line of an imported server that is a program of this machine: the walls of command_line.ts around it,
 * for as long as its task lasts. Its files are bound when it is started; nothing is decided later.
 * @module
 */
import { CHILD_FLAGS, Fault, type KernelConfig, type McpLaunch } from "../../contracts/mod.ts";
import {
  above,
  BECOMING,
  COMMAND_ENV,
  COMMAND_PROCESSES,
  type CommandIdentity,
  INNER,
  NOBODY,
  SETTINGS,
  started,
  SYSTEM,
} from "./command_line.ts";
import { marking, NAMESPACE, type StartLine, type WallConfig } from "./line_parts.ts";
import { grantBinds, masking, serverEnv, socketBinds } from "./mcp_binds.ts";
import { NET_SOCKET, type ServerParts, walled } from "./mcp_line.ts";
import { FILTERING, openingAside, speaking } from "./seccomp.ts";
import type { Walls } from "./walls.ts";

/** A program of this machine. */
export interface ProgramParts extends ServerParts {
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
  const line = started(config.programs, { data: 4 * GiB, file: GiB, files: 1_024 }, [
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
