/** What of the machine's files an imported server finds in its namespace: what it was granted, under its own names. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { McpGrants } from "../../../contracts/exchange/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { foldPath } from "../../../text/path_list.ts";
import { beneath } from "../lease/scope.ts";
import { INSIDE } from "./line_parts.ts";
import { howEnded, type SpawnPowers } from "./spawn.ts";

/** Names of ours within a namespace, and what is the machine's alone: no grant may stand there. */
const RESERVED = [
  ...[INSIDE, "/private", "/run", "/tree", "/relay", "/proc", "/sys", "/dev", "/etc"],
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

/** Most that is masked for one server, and milliseconds that looking for it may take. */
const MASKS = 1_000, LOOKING_MS = 20_000;

/** What no tool reads, whatever was granted. */
export interface Kept {
  /** Globs whose last part each such path matches. */
  readonly names: readonly string[];
  /** Why nobody may read an absolute path, in words; undefined when somebody may. */
  why(path: string): string | undefined;
}

/** What a server does not find in what is bound: by its paths in the namespace. */
export interface Masks {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/**
 * What in granted paths is kept from every server: sockets, pipes and devices, which a read-only bind lets anybody talk
 * to, and what the never-list names, which a link of another name leads to as well as its own.
 *
 * @throws Fault `refused` for a granted path that is itself kept, `tooLarge` for more than a start can mask, or where
 * looking takes too long
 */
export async function masksIn(
  { read, write, copies = {} }: FileGrants,
  { own = [], kept, programs, spawn, powers }: {
    /** Folders of Remit, which no grant may touch. */
    readonly own?: readonly string[];
    /** Absent: only what is neither file nor folder. */
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
  const found = (type: string, lies: string): void => {
    const copy = copied.find((path) => beneath(copies[path] ?? path, lies));
    const path = copy === undefined ? lies : `${copy}${lies.slice((copies[copy] ?? copy).length)}`;
    // A copy stands there instead.
    if (copy === undefined && copied.some((each) => beneath(each, lies))) return;
    if (folder !== undefined && beneath(folder, path)) return;
    if (type !== "f" && type !== "d") files.add(path);
    else if (kept?.why(path) === undefined) return;
    else if (type === "f") files.add(path);
    else folders.add(folder = path);
    if (files.size + folders.size > MASKS) looking.kill();
  };
  const decoder = new TextDecoder();
  let rest = "";
  // The kernel itself may not read what it grants; prlimit is there wherever a server is started.
  const looking = spawn.start({
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
    // Folders that we may not read, no program of ours may either.
    onStderr: () => undefined,
  });
  const disarm = powers.after(LOOKING_MS, looking.kill);
  const status = await looking.exited;
  disarm();
  const most = files.size + folders.size > MASKS;
  if (status.signal === null && (status.code ?? 9) <= 1 && !most) {
    return { files: [...files], folders: [...folders] };
  }
  throw new Fault(
    "tooLarge",
    `Cannot look for sockets, pipes and never-listed names in ${
      granted.map((path) => JSON.stringify(path)).join(", ")
    }: ${most ? `there are more than ${MASKS}` : howEnded(status)}; grant a smaller folder`,
  );
}

/** Before anything is looked through: it may be all of the machine. */
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
 * Words of `find` that choose at least each name that one of the globs covers: most names never reach the list's own
 * matcher. What is not plain ASCII, or what some file system reads as another name, all goes to it.
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

/** Arguments of bubblewrap that put a file which nobody can open, or an empty folder, over each of them. */
export function masking({ files, folders }: Masks = { files: [], folders: [] }): string[] {
  return [
    ...files.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...folders.flatMap((path) => [
      ...["--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path],
    ]),
  ];
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
