/**
 * The start line of the store process: one address of a database, and nothing else. Used by
 * kernel/core/log/store_process.ts.
 * @module
 */
import { cacheBeside } from "../../../contracts/base/built_program.ts";
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

/** Where the database is: a host, or the folder of its unix socket. */
export interface StoreAt {
  readonly host: string;
  readonly port: number;
}

/** Files by which the database's name is resolved. */
const NAME_SERVERS = ["/etc/resolv.conf", "/etc/hosts"];

/** The start line. Throws a TypeError for a folder that holds a comma, which Deno reads as a separator. */
export function lineOfStore(
  config: WallConfig & Pick<KernelConfig, "bundles">,
  walls: Walls,
  { host, port }: StoreAt,
): StartLine {
  const { programs: { bwrap, deno }, bundles: { store: bundle } } = config;
  if (host.includes(",")) throw new TypeError(`Cannot grant "${host}": it holds a comma`);
  const socket = host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : undefined;
  const denied = (kept: readonly string[]): readonly string[] =>
    DENIED.filter((flag) => !kept.includes(flag));
  const rights = socket === undefined
    ? [
      `--allow-net=${host.includes(":") ? `[${host}]` : host}:${port}`,
      ...denied(["--deny-net", "--deny-env"]),
    ]
    : [
      ...[`--allow-net=unix:${socket}`, `--allow-read=${socket}`, `--allow-write=${socket}`],
      ...denied(["--deny-net", "--deny-env", "--deny-read", "--deny-write"]),
    ];
  const words = ["--ignore-env", ...rights];
  const denoDir = cacheBeside(bundle);
  if (!walls.bwrap || bwrap === undefined) {
    const inner = denoLine(deno, "store", bundle, words);
    return started(config, walls, "store", inner, environment(denoDir));
  }
  const wall = [
    // A unix socket is a file, so that choice needs no network.
    ...namespace(
      bwrap,
      deno,
      environment(NAMESPACE.denoDir),
      socket === undefined ? ["--share-net"] : [],
    ),
    ...["--tmpfs", "/tmp"],
    ...["--ro-bind", bundle, bundle],
    ...["--ro-bind-try", denoDir, NAMESPACE.denoDir],
    // The folder, not the socket, because a restarted database makes a new socket.
    ...(socket === undefined
      ? NAME_SERVERS.flatMap((file) => ["--ro-bind-try", file, file])
      : ["--bind", host, host]),
    ...["--symlink", NAMESPACE.deno, "/proc/self/exe"],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "store", bundle, words),
  ];
  const inner = filtered(config, walls.filter ? "holder" : undefined, wall);
  return started(config, { ...walls, setpriv: false }, "store", inner, {});
}
