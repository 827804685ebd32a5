/**
 * Decides an imported server's accesses: its grants, as far as their leases are alive at this
 * moment, and writes only during a call that may write.
 * @module
 */
import { refuse } from "../../core/child/permission_line.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { mcpScopes } from "../../../contracts/exchange/mcp.ts";
import type { LeaseId, Leases, Scope } from "../../../contracts/authority/mod.ts";
import type { Judge, Verdict } from "../../core/child/permission_line.ts";
import { beneath, covers } from "../../core/lease/scope.ts";
import { NAMESPACE } from "../../core/start/line_parts.ts";
import { NET_SOCKET, PRIVATE } from "../../core/start/mcp_line.ts";
import type { McpPlace } from "./calls.ts";

/** One grant, with the task's lease for it. */
export interface LeasedGrant {
  /** A write grant of a path covers reading it. */
  readonly right: "read" | "write" | "net";
  /** An absolute path, or `host:port`. */
  readonly value: string;
  readonly lease: LeaseId;
}

interface McpJudgeParts {
  /** The server's name, for messages. */
  readonly server: string;
  readonly grants: readonly LeasedGrant[];
  alive(lease: LeaseId): boolean;
  /** Write grants that this process of the server may only read. */
  readonly held?: readonly string[];
  /** Tells whether a running call may write. */
  writes(): boolean;
  /** Why no tool may touch a path, whatever was granted; undefined where tools may. */
  forbids?(path: string, right: "read" | "write"): string | undefined;
  /** Called with every decision. */
  note(permission: string, value: string | null, allowed: boolean): void;
}

const ALLOW: Verdict = Object.freeze({ allow: true });

/** Makes the judge of one process of one server. To be wrapped in `asImported`. */
export function makeMcpJudge(parts: McpJudgeParts): Judge {
  const { server, grants, note } = parts;
  const granted = (wanted: (grant: LeasedGrant) => boolean): "yes" | "dead" | "no" => {
    let dead = false;
    for (const grant of grants) {
      if (!wanted(grant)) continue;
      if (parts.alive(grant.lease)) return "yes";
      dead = true;
    }
    return dead ? "dead" : "no";
  };

  const file = (right: "read" | "write", path: string): Verdict => {
    const held = granted((grant) =>
      grant.right !== "net" && beneath(grant.value, path) &&
      (right === "read" || grant.right === "write")
    );
    if (held === "yes") {
      const why = parts.forbids?.(path, right);
      if (why !== undefined) return refuse(right, path, why);
      return right === "read" || parts.writes()
        ? ALLOW
        : refuse(right, path, "no call is under way that may write");
    }
    if (held === "dead") return refuse(right, path, "its lease was taken back or has expired");
    if (parts.held?.some((value) => beneath(value, path)) === true) {
      return refuse(
        right,
        path,
        `this tool is held to reading; if it must change files: remit mcp grant ${server} --writes TOOL`,
      );
    }
    if (grants.some(({ right, value }) => right !== "net" && beneath(value, path))) {
      return refuse(right, path, `it may only be read; ${how(right, path)}`);
    }
    // To connect to a socket, Deno asks for read, write and net.
    if (granted((grant) => grant.right === "net" && grant.value === `unix:${path}`) === "yes") {
      return ALLOW;
    }
    // INVARIANT: the namespace's own folders lead to no grant, because links cannot be made inside (test: "… link …").
    if (beneath(PRIVATE, path)) return ALLOW;
    if (right === "read" && beneath(NAMESPACE.denoDir, path)) return ALLOW;
    if (path === NET_SOCKET && granted(({ right }) => right === "net") === "yes") return ALLOW;
    return refuse(right, path, `it was not granted; ${how(right, path)}`);
  };

  const net = (host: string): Verdict => {
    // The proxy behind the socket judges each host again.
    if (host === `unix:${NET_SOCKET}` && granted(({ right }) => right === "net") === "yes") {
      return ALLOW;
    }
    const held = granted((grant) => grant.right === "net" && grant.value === host);
    if (held === "yes") return ALLOW;
    return held === "dead"
      ? refuse("reach", host, "its lease was taken back or has expired")
      : refuse("reach", host, `it was not granted; ${how("net", host)}`);
  };

  const how = (right: string, value: string): string => {
    if (beneath(NAMESPACE.denoDir, value)) {
      return "it is the server's own code, which nobody changes; tell it another place, and grant that";
    }
    // Many programs write a new file beside the old one and rename it, for which a grant of the file alone is too little.
    const beside = right === "write"
      ? grants.find((grant) => grant.right === "write" && value.startsWith(`${grant.value}.`))
      : undefined;
    if (beside !== undefined) {
      const folder = beside.value.slice(0, beside.value.lastIndexOf("/")) || "/";
      return `it replaces the file by a new one, and needs the folder: remit mcp grant ${server} ` +
        `--write ${JSON.stringify(folder)}`;
    }
    return `remit mcp grant ${server} --${right} ${JSON.stringify(value)}`;
  };

  const decide = (permission: string, value: string | null): Verdict => {
    // The environment holds only granted variables.
    if (permission === "env") return ALLOW;
    if (value === null) return refuse(permission, "everything", "name one");
    if (permission === "net") return net(value);
    if (permission === "read" || permission === "write") return file(permission, value);
    return refuse(permission, value, "no imported server has it");
  };

  return (permission, value) => {
    const verdict = decide(permission, value);
    note(permission, value, verdict.allow);
    return verdict;
  };
}

/** The grants of one process of a server. */
interface HeldGrants {
  readonly grants: readonly LeasedGrant[];
  /** Leases whose end ends the process. */
  readonly leases: ReadonlySet<LeaseId>;
}

/**
 * The server's grants for which the task holds a live lease now.
 *
 * @throws Fault `leaseRevoked` when the task may not use the server, or not reach its origin
 */
export function leasedGrants(
  leases: Pick<Leases, "list" | "alive">,
  { task, server }: McpPlace,
): HeldGrants {
  // Only leases of the root process: a child's leases end with the child.
  const held = leases.list(task).filter(({ parent, scope, id }) =>
    parent === undefined && scope.resource === "mcp" && leases.alive(id)
  );
  const leaseOf = (scope: Scope): LeaseId | undefined =>
    held.find((lease) => covers(lease.scope, scope))?.id;
  const { name, launch } = server;
  const grants: LeasedGrant[] = [], used = new Set<LeaseId>();
  for (const scope of mcpScopes(server)) {
    const lease = leaseOf(scope);
    const value = scope.path.slice(name.length);
    const right = scope.right !== "use" ? scope.right : value.startsWith("/net/") ? "net" : "call";
    if (lease === undefined) {
      if (right === "call" || launch.kind === "http") {
        throw new Fault("leaseRevoked", `Cannot use "${name}": its lease was taken back`);
      }
      continue;
    }
    used.add(lease);
    if (right === "call") continue;
    grants.push({
      right,
      lease,
      value: right === "net" ? value.slice("/net/".length) : value || "/",
    });
  }
  return { grants, leases: used };
}
