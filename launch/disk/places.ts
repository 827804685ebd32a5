/** The paths of state, configuration and sockets. @module */
import { createHash } from "node:crypto";
import { isAbsolute, join, normalize, resolve } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { DiskRead, DiskWrite, Environment } from "./machine.ts";

/** Absolute paths for this user and state. */
export interface Places {
  /** STATE. */
  readonly state: string;
  /** STATE/kernel: only the kernel writes here. */
  readonly kernel: string;
  /** STATE/person: the person's keys. */
  readonly person: string;
  /** Short folder for sockets, 0700. */
  readonly runtime: string;
  readonly controlSocket: string;
  readonly brokerSockets: readonly string[];
  /** RUNTIME/net: only the sockets that the net service listens on. */
  readonly net: string;
  readonly proxySockets: readonly string[];
  readonly cache: string;
  /** Weights of local models, by digest. */
  readonly models: string;
  /** STATE/wiki: a folder for each wiki's authoritative state. */
  readonly wiki: string;
  /** STATE/mcp/trees: code of imported MCP servers. */
  readonly mcpTrees: string;
  /** The operator's own remit.yaml. */
  readonly config: string;
  /** Lock file of imported MCP servers: beside `config`, or in STATE where `--state` was given. */
  readonly mcpLock: string;
  /** Where `--state` was given: the lock file to read while STATE has none. */
  readonly sharedMcpLock?: string;
  readonly ceiling: string;
}

const CEILING = "/etc/remit/ceiling.yaml";
const BROKER_SOCKETS = 16;
const PROXY_SOCKETS = 32;
// Unix socket paths are limited to about 100 bytes.
const MAX_SOCKET_PATH = 100;

/** Makes a path absolute against the caller's folder; `~/` is the home folder. */
export function absolute(environment: Pick<Environment, "cwd" | "env">, path: string): string {
  const home = environment.env("HOME");
  if (home !== undefined && (path === "~" || path.startsWith("~/"))) {
    return normalize(join(home, path.slice(1)));
  }
  return isAbsolute(path) ? normalize(path) : resolve(environment.cwd, path);
}

function base(
  environment: Pick<Environment, "cwd" | "env">,
  name: string,
  beneathHome: string,
): string {
  const given = environment.env(name);
  // The XDG specification says to ignore relative values.
  if (given !== undefined && isAbsolute(given)) return normalize(given);
  const home = environment.env("HOME");
  if (home === undefined || !isAbsolute(home)) {
    throw new Fault("invalidInput", `Cannot find ${name}: set HOME, or give --state DIR`);
  }
  return join(home, beneathHome);
}

/** Computes every path. `state` is the value of `--state`. Throws `invalidInput` without a home folder. */
export function placesOf(
  environment: Pick<Environment, "cwd" | "env" | "uid">,
  state: string | undefined,
): Places {
  const root = state === undefined
    ? join(base(environment, "XDG_STATE_HOME", ".local/state"), "remit", "default")
    : absolute(environment, state);
  const hash = createHash("sha256").update(root).digest("hex").slice(0, 12);
  const session = environment.env("XDG_RUNTIME_DIR");
  const config = join(base(environment, "XDG_CONFIG_HOME", ".config"), "remit");
  const wanted = session !== undefined && isAbsolute(session)
    ? join(session, `remit-${hash}`)
    : undefined;
  const runtime = wanted !== undefined && wanted.length + "/broker-00".length < MAX_SOCKET_PATH
    ? wanted
    : `/tmp/remit-${environment.uid}-${hash}`;
  return Object.freeze({
    state: root,
    kernel: join(root, "kernel"),
    person: join(root, "person"),
    models: join(root, "models"),
    wiki: join(root, "wiki"),
    runtime,
    controlSocket: join(runtime, "control"),
    brokerSockets: Array.from({ length: BROKER_SOCKETS }, (_, n) => join(runtime, `broker-${n}`)),
    net: join(runtime, "net"),
    proxySockets: Array.from({ length: PROXY_SOCKETS }, (_, n) => join(runtime, "net", `p-${n}`)),
    cache: join(base(environment, "XDG_CACHE_HOME", ".cache"), "remit"),
    mcpTrees: join(root, "mcp", "trees"),
    config: join(config, "remit.yaml"),
    mcpLock: join(state === undefined ? config : root, "remit.lock"),
    ...(state === undefined ? {} : { sharedMcpLock: join(config, "remit.lock") }),
    ceiling: CEILING,
  });
}

/** Makes a folder that only this user can enter; throws `refused` when it belongs to someone else. */
export function makePrivateFolder(
  disk: Pick<DiskRead & DiskWrite, "makeFolder" | "stat" | "real">,
  path: string,
  uid: number,
): void {
  disk.makeFolder(path, 0o700);
  const found = disk.stat(path);
  if (found === undefined || !found.folder || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Fault(
      "refused",
      `Cannot use "${path}": it must be a folder of your own with mode 0700`,
    );
  }
}

/** A folder that cannot be written, the reason, and the setting that names another one. */
export interface Obstacle {
  readonly place: "state" | "cache" | "sockets";
  readonly path: string;
  readonly why: string;
  readonly set: string;
}

/** The folders that cannot be written. */
export function obstaclesOf(
  disk: Pick<DiskRead, "obstacle">,
  { state, cache, runtime }: Pick<Places, "state" | "cache" | "runtime">,
): readonly Obstacle[] {
  return ([
    { place: "state", path: state, set: "--state DIR, XDG_STATE_HOME or HOME" },
    { place: "cache", path: cache, set: "XDG_CACHE_HOME or HOME" },
    { place: "sockets", path: runtime, set: "XDG_RUNTIME_DIR" },
  ] as const).flatMap((each) => {
    const why = disk.obstacle(each.path);
    return why === undefined ? [] : [{ ...each, why }];
  });
}

/** An obstacle as a sentence. */
export const obstacleText = ({ path, why, set }: Obstacle): string =>
  `Cannot write "${displayText(path, { max: 300 })}": ${why}; ${set} names another folder`;

/**
 * Makes the state and runtime folders, and checks their owner.
 *
 * @throws Fault `unavailable` for a folder that cannot be written, `invalidInput` for a file in its place, `refused` for another owner
 */
export function preparePlaces(
  disk: Pick<DiskRead & DiskWrite, "makeFolder" | "stat" | "real" | "obstacle">,
  places: Places,
  uid: number,
): void {
  const [obstacle] = obstaclesOf(disk, places);
  if (obstacle !== undefined) {
    const file = disk.stat(obstacle.path)?.folder === false;
    throw new Fault(file ? "invalidInput" : "unavailable", obstacleText(obstacle));
  }
  for (
    const each of [
      ...[places.state, places.kernel, places.person, places.models, places.runtime, places.net],
    ]
  ) makePrivateFolder(disk, each, uid);
  // A link planted in a shared folder such as /tmp would lead elsewhere.
  const real = disk.real(places.runtime);
  const parent = disk.real(join(places.runtime, ".."));
  const name = places.runtime.split("/").at(-1) ?? "";
  if (real === undefined || parent === undefined || real !== join(parent, name)) {
    throw new Fault("refused", `Cannot use "${places.runtime}": it is a link`);
  }
}

/** Whether `inner` is `outer` or lies beneath it. Both absolute and resolved. */
export function within(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer === "/" ? "/" : `${outer}/`);
}
