/** The machine's files in an imported server's namespace: its grants, under their own paths. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { McpGrants } from "../../../contracts/exchange/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { foldPath } from "../../../text/path_list.ts";
import { beneath } from "../lease/scope.ts";
import { INSIDE } from "./line_parts.ts";
import { howEnded, type SpawnPowers } from "./spawn.ts";

/** Paths of Remit inside a namespace, and paths of the system: no grant may cover them. */
const RESERVED = [
  ...[INSIDE, "/private", "/run", "/tree", "/relay", "/proc", "/sys", "/dev", "/etc"],
];

/** Granted files. */
export interface FileGrants extends Pick<McpGrants, "read" | "write"> {
  /** For granted paths that are copied: the copy that is bound in the path's place. */
  readonly copies?: Readonly<Record<string, string>>;
}

/**
 * Arguments of bubblewrap that bind each granted path under its own name, outer paths before inner
 * ones. `own`: folders of Remit, which no grant may touch.
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

/** Paths at or beneath which no socket may be bound. */
const RESERVED_FOR_SOCKETS = [
  ...RESERVED.filter((each) => each !== "/run"),
  ...["/run/remit", "/run/net.sock", "/run/broker.sock"],
];

/**
 * Arguments of bubblewrap that bind a server's granted unix sockets, each alone, under its own path.
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

/** Masks of one server, at most, and milliseconds of searching for them. */
const MAX_MASKS = 1_000, SEARCH_MS = 20_000;

/** The never-list: files that no tool reads, whatever was granted. */
export interface Kept {
  /** Globs; each listed path matches the last part of one. */
  readonly names: readonly string[];
  /** Why an absolute path is never read; undefined where the list does not name it. */
  why(path: string): string | undefined;
}

/** Paths in the namespace that are hidden from a server, inside its grants. */
export interface Masks {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/**
 * Finds the paths to hide inside grants: sockets, pipes and devices, which even a read-only bind
 * lets a server talk to, and files of the never-list, under their own names and through links.
 *
 * @throws Fault `refused` for a granted path that is itself to be hidden, `tooLarge` for too many
 * masks or a search that takes too long
 */
export async function masksIn(
  { read, write, copies = {} }: FileGrants,
  { own = [], kept, programs, spawn, powers }: {
    /** Folders of Remit, which no grant may touch. */
    readonly own?: readonly string[];
    /** Absent: hide only sockets, pipes and devices. */
    readonly kept?: Kept | undefined;
    readonly programs: KernelConfig["programs"];
    readonly spawn: Pick<SpawnPowers, "start">;
    readonly powers: Pick<Powers, "after">;
  },
): Promise<Masks> {
  const granted = [...new Set([...read, ...write])];
  for (const path of granted) refuseKept(path, { own, kept });
  const copied = granted.filter((path) => Object.hasOwn(copies, path));
  const files = new Set<string>(), folders = new Set<string>();
  if (granted.length === 0) return { files: [], folders: [] };
  let folder: string | undefined;
  const found = (type: string, at: string): void => {
    const copy = copied.find((path) => beneath(copies[path] ?? path, at));
    const path = copy === undefined ? at : `${copy}${at.slice((copies[copy] ?? copy).length)}`;
    // A copy is bound there instead.
    if (copy === undefined && copied.some((each) => beneath(each, at))) return;
    if (folder !== undefined && beneath(folder, path)) return;
    if (type !== "f" && type !== "d") files.add(path);
    else if (kept?.why(path) === undefined) return;
    else if (type === "f") files.add(path);
    else folders.add(folder = path);
    if (files.size + folders.size > MAX_MASKS) search.kill();
  };
  const decoder = new TextDecoder();
  let rest = "";
  // `find` searches because the kernel itself may not read grants; prlimit exists wherever servers start.
  const search = spawn.start({
    program: programs.prlimit ?? "",
    args: [
      ...["--core=0", "--", "find", ...granted.map((path) => copies[path] ?? path)],
      ...["!", "-type", "l", "(", "!", "-type", "f", "!", "-type", "d"],
      ...(kept === undefined ? [] : mayMatch(kept.names)),
      ...[")", "-printf", "%y%p\\0"],
    ],
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    onOutput(chunk): void {
      const all = (rest + decoder.decode(chunk, { stream: true })).split("\0");
      rest = all.pop() ?? "";
      for (const each of all) found(each.slice(0, 1), each.slice(1));
    },
    // Folders that this user may not read are unreadable for the server too.
    onStderr: () => undefined,
  });
  const disarm = powers.after(SEARCH_MS, search.kill);
  const status = await search.exited;
  disarm();
  const tooMany = files.size + folders.size > MAX_MASKS;
  if (status.signal === null && (status.code ?? 9) <= 1 && !tooMany) {
    return { files: [...files], folders: [...folders] };
  }
  throw new Fault(
    "tooLarge",
    `Cannot look for sockets, pipes and never-listed names in ${
      granted.map((path) => JSON.stringify(path)).join(", ")
    }: ${tooMany ? `there are more than ${MAX_MASKS}` : howEnded(status)}; grant a smaller folder`,
  );
}

/** Refuses before the search, which could cover the whole machine. */
function refuseKept(
  path: string,
  { own, kept }: { readonly own: readonly string[]; readonly kept: Kept | undefined },
): void {
  const why = kept === undefined ? undefined : whyNotGranted(path, own) ?? kept.why(path);
  if (why === undefined) return;
  throw new Fault(
    "refused",
    `Cannot grant ${JSON.stringify(path)} to a server: ${why}; take it back with --drop`,
  );
}

/**
 * Conditions of `find` that select at least every name that a glob covers, so that most names never
 * reach the never-list's own matcher. Names that are not plain ASCII, or that some file system
 * reads as another name, are always selected.
 */
function mayMatch(globs: readonly string[]): string[] {
  const last = globs.filter((glob) => !glob.startsWith("!")).map((glob) =>
    foldPath(glob).split("/").filter((part) => part !== "" && part !== "**").at(-1) ?? "*"
  );
  return [
    ...[...new Set(last)].flatMap((part) => [
      ...["-o", "-iname", part.replace(/[\\[]/g, "\\$&")],
    ]),
    ...["-o", "-name", "*[! -~]*", "-o", "-name", "*\\\\*", "-o", "-name", "*[. ]"],
  ];
}

/** Arguments of bubblewrap that put a file which nobody can open, or an empty folder, over each masked path. */
export function masking({ files, folders }: Masks = { files: [], folders: [] }): string[] {
  return [
    ...files.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...folders.flatMap((path) => [
      ...["--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path],
    ]),
  ];
}

/** Why a path cannot be granted to a server; undefined where it can. `own`: folders of Remit. */
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
 * Variables that a loader or a system library obeys. A server's environment passes through the
 * programs that make its walls, so it may hold none of these.
 */
const STEERING =
  /^(?:GCONV_PATH|GETCONF_DIR|GLIBC_TUNABLES|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_\w+|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR|BASH_ENV|ENV|IFS|SHELLOPTS)$/;

/**
 * A server's environment: the given variables, overridden by Remit's own.
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
