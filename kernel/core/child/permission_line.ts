/** One line of Deno's permission broker protocol, read and written. @module */
import { Fault } from "../../../contracts/base/fault.ts";

/** A child's request for one permission. */
export interface PermissionAsk {
  readonly id: number;
  /** `read`, `write`, `net`, `env`, `run`, `sys`, `ffi`, `import`. */
  readonly permission: string;
  /** The path, host or name; null asks for the whole permission. */
  readonly value: string | null;
}

/** The answer; a reason appears in the child's `NotCapable` message. */
export type Verdict = { readonly allow: true } | { readonly allow: false; readonly reason: string };

/** Decides one permission at this moment. Synchronous: the child waits in a system call. */
export type Judge = (permission: string, value: string | null) => Verdict;

/** Parses a request; throws `badFrame`. TRUST: from Deno itself, in a process that may be hostile. */
export function parsePermission(line: string): PermissionAsk {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch (cause) {
    throw new Fault("badFrame", "Cannot read a permission request: not JSON", { cause });
  }
  if (typeof raw === "object" && raw !== null) {
    const { v, id, permission, value } = raw as Record<string, unknown>;
    if (
      v === 1 && typeof id === "number" && Number.isSafeInteger(id) &&
      typeof permission === "string" && (value === null || typeof value === "string")
    ) return { id, permission, value };
  }
  throw new Fault("badFrame", "Cannot read a permission request: not of version 1");
}

/** Writes the answer, with its newline. */
export function answerPermission(id: number, verdict: Verdict): string {
  return verdict.allow
    ? `{"id":${id},"result":"allow"}\n`
    : `{"id":${id},"result":"deny","reason":${JSON.stringify(verdict.reason)}}\n`;
}

/** Permissions that no child ever has: each would be full power, or a way to it. */
const NEVER: ReadonlySet<string> = new Set(["run", "ffi", "sys", "env", "import", "net"]);

/**
 * Wraps a judge: permissions that no child may have, requests without a value and paths that are
 * not plain absolute ones are refused without asking the judge.
 */
export function strictly(judge: Judge): Judge {
  return (permission, value) => {
    if (NEVER.has(permission)) return refusal(`Cannot use ${permission}: no tool has it`);
    if (permission !== "read" && permission !== "write") {
      return refusal("Cannot use this permission: unknown");
    }
    if (value === null) return refusal(`Cannot ${permission} everything: name a path`);
    if (!isPlain(value)) {
      return refusal(`Cannot ${permission} this path: not a plain absolute path`);
    }
    return judge(permission, value);
  };
}

/** Permissions that no imported server ever has. */
const FULL_POWER: ReadonlySet<string> = new Set(["run", "ffi", "sys", "import"]);

/**
 * Facts that a server may ask of the machine: every program inside walls reads them without asking, or they belong to
 * the server's own namespace. None tells of its user, its network or its neighbours.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["osRelease", "hostname", "homedir", "cpus", "systemMemoryInfo", "uid", "gid"],
]);

/**
 * Files by which libraries detect the system. In a namespace they do not exist, and no grant can
 * place them there, so allowing the read answers "no such file"; a refusal would end a server that
 * only tests for existence.
 */
const ABSENT: ReadonlySet<string> = new Set([
  ...["/proc/sys/fs/binfmt_misc/WSLInterop", "/proc/version", "/run/WSL", "/run/.containerenv"],
  ...["/.dockerenv", "/etc/os-release", "/etc/alpine-release", "/etc/lsb-release"],
]);

/**
 * Like {@link strictly}, for the judge of an imported server, which also decides names of the environment and hosts.
 */
export function asImported(judge: Judge): Judge {
  return (permission, value) => {
    if (permission === "env") return judge(permission, value);
    if (permission === "sys" && value !== null && HARMLESS.has(value)) return ALLOW;
    if (permission === "read" && value !== null && ABSENT.has(value)) return ALLOW;
    if (FULL_POWER.has(permission)) return refuseAll(judge, permission, value);
    if (permission === "net") {
      // TRUST: from Deno itself, `host:port`, or a host alone before its name is looked up.
      if (value === null || value.length > (value.startsWith("unix:/") ? 4_101 : 512)) {
        return refusal("Cannot use all of the network");
      }
      return judge(permission, value.startsWith("unix:") ? value : value.toLowerCase());
    }
    const plain = strictly(() => ALLOW)(permission, value);
    return plain.allow ? judge(permission, value) : refuseAll(judge, permission, value, plain);
  };
}

const ALLOW: Verdict = Object.freeze({ allow: true });

/** Refuses, whatever the judge says; the judge is called so that it records the request. */
function refuseAll(
  judge: Judge,
  permission: string,
  value: string | null,
  verdict = refusal(`Cannot use ${permission}: no imported server has it`),
): Verdict {
  judge(permission, value);
  return verdict;
}

/** Absolute, without NUL, without empty, `.` or `../..` parts. */
function isPlain(path: string): boolean {
  if (!path.startsWith("/") || path.includes("\0")) return false;
  if (path.length > 4_096) return false;
  return path === "/" || !/\/(?:\.{0,2}(?:\/|$))/.test(path);
}

function refusal(reason: string): Verdict {
  return { allow: false, reason };
}

/** The refusal of an access to `what`. */
export function refuse(verb: string, what: string | null, why: string): Verdict {
  return refusal(`Cannot ${verb} ${JSON.stringify(what)}: ${why}`);
}
