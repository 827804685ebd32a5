/** What of the machine's files an imported server finds in its namespace: what it was granted, under its own names. @module */
import { Fault, type McpGrants } from "../../contracts/mod.ts";
import { beneath } from "../lease/scope.ts";

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
