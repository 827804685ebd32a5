/** The command line that starts a child: walls outside, `deno run` without rights inside. @module */
import { dirname } from "node:path";
import type { Mount } from "../../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import {
  DENIED,
  denoLine,
  environment,
  filtered,
  NAMESPACE,
  namespace,
  started,
  type StartLine,
  type WallConfig,
} from "./line_parts.ts";
import type { Walls } from "./walls.ts";

/** A toolhost's folders, and its broker's socket. */
export interface HostParts {
  readonly mounts: readonly Pick<Mount, "name" | "dir" | "mode">[];
  readonly content: string;
  readonly scratch: string;
  /** Mounts in mode `stage` or `rw` are bound writable. */
  readonly writable: boolean;
  /** The permission broker's socket of this child alone. */
  readonly broker: string;
}

/** The paths of a toolhost's folders as the toolhost sees them. */
export interface Roots {
  readonly mounts: readonly { readonly name: string; readonly root: string }[];
  readonly content: string;
  readonly scratch: string;
}

/** Argument of a pooled child, which may warm itself up before it reads. */
const POOLED = "pooled";

/** The start line of a child that touches no file: no namespace, no permission. */
export function lineOutside(
  config: Pick<KernelConfig, "programs" | "bundles" | "denoDir">,
  walls: Walls,
  role: "worker" | "model" | "plugin" | "mcp" | "a2a",
  options: { readonly pooled: boolean },
): StartLine {
  const deno = [
    ...denoLine(config.programs.deno, role, config.bundles[role], DENIED),
    ...(options.pooled ? [POOLED] : []),
  ];
  return started(config, walls, role, deno, environment(config.denoDir));
}

/** The start line of a toolhost, in a namespace where bubblewrap works, and the paths of its folders. */
export function lineOfHost(
  config: WallConfig & Pick<KernelConfig, "bundles" | "denoDir">,
  walls: Walls,
  parts: HostParts,
): { readonly line: StartLine; readonly roots: Roots } {
  const { bwrap, deno } = config.programs;
  if (!walls.bwrap || bwrap === undefined) {
    const env = { ...environment(config.denoDir), DENO_PERMISSION_BROKER_PATH: parts.broker };
    const inner = denoLine(deno, "toolhost", config.bundles.toolhost, []);
    return {
      line: started(config, walls, "toolhost", inner, env),
      roots: {
        mounts: parts.mounts.map(({ name, dir }) => ({ name, root: dir })),
        content: parts.content,
        scratch: parts.scratch,
      },
    };
  }
  const env = {
    ...environment(NAMESPACE.denoDir),
    DENO_PERMISSION_BROKER_PATH: NAMESPACE.broker,
  };
  const binds = parts.mounts.flatMap(({ name, dir, mode }) => [
    parts.writable && mode !== "ro" ? "--bind" : "--ro-bind",
    dir,
    `${NAMESPACE.mounts}/${name}`,
  ]);
  const wall = [
    ...namespace(bwrap, deno, env),
    ...["--tmpfs", "/tmp"],
    // Under its own path, by which the code cache finds it: saves 5 ms.
    ...["--ro-bind", config.bundles.toolhost, config.bundles.toolhost],
    ...["--ro-bind", config.denoDir, NAMESPACE.denoDir],
    ...binds,
    ...["--bind", parts.content, NAMESPACE.content],
    ...["--bind", parts.scratch, NAMESPACE.scratch],
    ...["--bind", parts.broker, NAMESPACE.broker],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "toolhost", config.bundles.toolhost, []),
  ];
  const inner = filtered(config, walls.filter ? "broker" : undefined, wall);
  return {
    line: started(config, { ...walls, setpriv: false }, "toolhost", inner, {}),
    roots: {
      mounts: parts.mounts.map(({ name }) => ({ name, root: `${NAMESPACE.mounts}/${name}` })),
      content: NAMESPACE.content,
      scratch: NAMESPACE.scratch,
    },
  };
}

/** The net service's name servers. Not /etc/hosts, whose entries Deno would believe. */
const NAME_SERVERS = "/etc/resolv.conf";

/** The configuration of the net service; without `proxySockets` it does not listen. */
export type NetConfig =
  & Pick<KernelConfig, "programs" | "bundles" | "denoDir">
  & Partial<Pick<KernelConfig, "proxySockets" | "dir" | "mark">>;

/** The start line of the net service: only the network and its own sockets, in a namespace where possible. */
export function lineOfNet(config: NetConfig, walls: Walls): StartLine {
  const { programs: { bwrap, deno }, proxySockets = [] } = config;
  const rights = ["--ignore-env", "--allow-net", ...netRights(proxySockets)];
  if (!walls.bwrap || bwrap === undefined) {
    const inner = denoLine(deno, "net", config.bundles.net, rights);
    return started(config, walls, "net", inner, environment(config.denoDir));
  }
  const folders = [...new Set(proxySockets.map((path) => dirname(path)))];
  const wall = [
    ...namespace(bwrap, deno, environment(NAMESPACE.denoDir), ["--share-net"]),
    ...["--tmpfs", "/tmp"],
    ...["--ro-bind", config.bundles.net, config.bundles.net],
    ...["--ro-bind", config.denoDir, NAMESPACE.denoDir],
    ...["--ro-bind-try", NAME_SERVERS, NAME_SERVERS],
    // The folders hold only these sockets; each server gets only its own.
    ...folders.flatMap((folder) => ["--bind-try", folder, folder]),
    // Deno's HTTP client looks up its own executable, and fails where it cannot.
    ...["--symlink", NAMESPACE.deno, "/proc/self/exe"],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "net", config.bundles.net, rights),
  ];
  const { dir } = config;
  // The `holder` filter allows unix sockets, whose paths Deno's permissions limit.
  const inner = dir === undefined
    ? wall
    : filtered({ ...config, dir }, walls.filter ? "holder" : undefined, wall);
  return started(config, { ...walls, setpriv: false }, "net", inner, {});
}

/** Deno requires read and write permission for a socket's path to listen there. */
function netRights(sockets: readonly string[]): readonly string[] {
  const denied = DENIED.filter((flag) => flag !== "--deny-net" && flag !== "--deny-env");
  const [comma] = sockets.filter((path) => path.includes(","));
  if (comma !== undefined) throw new TypeError(`Cannot grant "${comma}": it holds a comma`);
  if (sockets.length === 0) return denied;
  const list = sockets.join(",");
  return [
    ...denied.filter((flag) => flag !== "--deny-read" && flag !== "--deny-write"),
    ...[`--allow-read=${list}`, `--allow-write=${list}`],
  ];
}

/** A line that exits with 0 where namespaces work and deno starts in one. */
export function lineOfProbe(bwrap: string, deno: string): StartLine {
  const [program = "", ...args] = [
    ...namespace(bwrap, deno, {}),
    "--",
    NAMESPACE.deno,
    "--version",
  ];
  return { program, args, env: {} };
}

/** The same with a filter of system calls, started like every real line, by a program that the kernel may run. */
export function lineOfFilterProbe(config: WallConfig): StartLine {
  const { programs: { bwrap = "", deno, setpriv, nice, prlimit } } = config;
  const inner = filtered(config, "closed", [
    ...namespace(bwrap, deno, {}),
    ...["--", NAMESPACE.deno, "--version"],
  ]);
  const walls = {
    ...{ bwrap: true, filter: true, storage: true, setpriv: setpriv !== undefined },
    ...{ nice: nice !== undefined, prlimit: prlimit !== undefined },
  };
  return started(config, walls, "worker", inner, {});
}
