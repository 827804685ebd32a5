/** What of the machine's files an imported server finds in its namespace: what it was granted, under its own names. @module */
import { Fault, type KernelConfig, type McpGrants, type Powers } from "../../contracts/mod.ts";
import { joinBytes } from "../../port/join_bytes.ts";
import { beneath } from "../lease/scope.ts";
import { howEnded, type SpawnPowers } from "./spawn.ts";

/** Names of ours within a namespace, and what is the machine's alone: no grant may stand there. */
const RESERVED = [
  ...["/dd", "/deno", "/private", "/run", "/tree", "/relay", "/proc", "/sys", "/dev", "/etc"],
];

/** Grants of files, as they are bound. */
export interface FileGrants extends Pick<McpGrants, "read" | "write"> {
  /** What of the machine stands in the place of a granted path: its copy. */
  readonly copies?: Readonly<Record<string, string>>;
}

/**
 * Arguments of bubblewrap that bind each granted path under its own name, an outer one before what lies in it.
 * `own`: folders of Remit, which no grant may touch.
 *
 * @throws Fault `refused` for a path that is reserved or Remit's own
 */
export function grantBinds(
  { read, write, copies = {} }: FileGrants,
  own: readonly string[],
): string[] {
  const modes = new Map<string, "--ro-bind" | "--bind">();
  for (const path of read) modes.set(path, "--ro-bind");
  for (const path of write) modes.set(path, "--bind");
  return [...modes].sort(([a], [b]) => a.length - b.length).flatMap(([path, how]) => {
    const why = whyNotGranted(path, own);
    if (why !== undefined) {
      throw new Fault("refused", `Cannot grant ${JSON.stringify(path)} to a server: ${why}`);
    }
    return [how, copies[path] ?? path, path];
  });
}

/** Names of ours at which, or beneath which, no socket may be shown. */
const RESERVED_FOR_SOCKETS = [
  ...RESERVED.filter((each) => each !== "/run"),
  ...["/run/remit", "/run/net.sock", "/run/broker.sock"],
];

/**
 * Arguments of bubblewrap that show a server the unix sockets that it was granted, each alone, under its own name.
 *
 * @throws Fault `refused` for a path that is reserved or Remit's own
 */
export function socketBinds(sockets: readonly string[], own: readonly string[]): string[] {
  return sockets.flatMap((path) => {
    const reserved = RESERVED_FOR_SOCKETS.some((each) => beneath(each, path));
    if (reserved || own.some((each) => beneath(each, path))) {
      throw new Fault(
        "refused",
        `Cannot grant socket ${JSON.stringify(path)} to a server: it is ${
          reserved ? "the machine's" : "Remit's"
        } own`,
      );
    }
    return ["--bind", path, path];
  });
}

/** Most that is masked for one server, milliseconds that looking for it may take, and bytes of its names. */
const MASKS = 1_000, LOOKING_MS = 20_000, NAMES = 1_048_576;

/**
 * What lies in folders and is neither file, folder nor link: sockets, pipes, devices. A read-only bind stops nobody from
 * talking to those.
 *
 * @throws Fault `tooLarge` for more than a start can mask, or where looking takes too long
 */
export async function specialIn(
  paths: readonly string[],
  { programs, spawn, powers }: {
    readonly programs: KernelConfig["programs"];
    readonly spawn: Pick<SpawnPowers, "start">;
    readonly powers: Pick<Powers, "after">;
  },
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // The kernel itself may not read what it grants; prlimit is there wherever a server is started.
  const looking = spawn.start({
    program: programs.prlimit ?? "",
    args: [
      ...["--core=0", "--", "find", ...paths],
      ...["!", "-type", "f", "!", "-type", "d", "!", "-type", "l", "-print0"],
    ],
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    onOutput(chunk): void {
      bytes += chunk.length;
      if (bytes > NAMES) looking.kill();
      else chunks.push(chunk.slice());
    },
    // Folders that we may not read, no program of ours may either.
    onStderr: () => undefined,
  });
  const disarm = powers.after(LOOKING_MS, looking.kill);
  const status = await looking.exited;
  disarm();
  const found = new TextDecoder().decode(joinBytes(chunks)).split("\0").filter((path) =>
    path !== ""
  );
  if (status.signal === null && (status.code ?? 9) <= 1 && found.length <= MASKS) return found;
  throw new Fault(
    "tooLarge",
    `Cannot look for sockets and pipes in ${
      paths.map((path) => JSON.stringify(path)).join(", ")
    }: ${
      status.signal === null ? `there are ${found.length}` : howEnded(status)
    }; grant a smaller folder`,
  );
}

/** Arguments of bubblewrap that put a file which nobody can open over each of them. */
export function masking(special: readonly string[]): readonly string[] {
  return special.flatMap((path) => ["--ro-bind", "/dev/null", path]);
}

/** Why no server may be granted a path; undefined when it may. `own`: folders of Remit. */
export function whyNotGranted(path: string, own: readonly string[]): string | undefined {
  if (path === "/") return "it is everything";
  if (!path.startsWith("/") || path.endsWith("/") || path.includes("//") || !beneath("", path)) {
    return "it is not a plain absolute path";
  }
  if (RESERVED.some((each) => beneath(each, path))) return "it is the machine's own";
  if (own.some((each) => beneath(each, path) || beneath(path, each))) return "it is Remit's own";
  return undefined;
}

/**
 * Variables that a loader or a library of the machine obeys. The environment of a server passes through the programs
 * that make its walls, so none of these may stand in it.
 */
const STEERING =
  /^(?:GCONV_PATH|GETCONF_DIR|GLIBC_TUNABLES|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_\w+|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR|BASH_ENV|ENV|IFS|SHELLOPTS)$/;

/**
 * The environment of a server: what it was given, and what is ours, which wins.
 *
 * @throws Fault `refused` for a variable that would steer the walls
 */
export function serverEnv(
  given: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const steering = Object.keys(given).find((name) => STEERING.test(name));
  if (steering !== undefined) {
    throw new Fault("refused", `Cannot hand "${steering}" to a server: it steers its walls`);
  }
  return { ...given, ...own };
}
