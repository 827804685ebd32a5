/** The leases that a task holds an imported server under, and what of its grants they leave it. @module */
import { Fault, type LeaseId, type Leases, mcpScopes, type Scope } from "../../contracts/mod.ts";
import { covers } from "../lease/scope.ts";
import type { McpPlace } from "./calls.ts";
import type { LeasedGrant } from "./mcp_judge.ts";

/** What a process of a server is started with. */
export interface HeldGrants {
  readonly grants: readonly LeasedGrant[];
  /** Every lease whose end is the end of the process. */
  readonly leases: ReadonlySet<LeaseId>;
}

/**
 * What the task holds of a server now: a grant without a live lease is left out.
 *
 * @throws Fault `leaseRevoked` when it may not use the server at all, or not reach the origin that it is at
 */
export function leasedGrants(
  leases: Pick<Leases, "list" | "alive">,
  { task, server }: McpPlace,
): HeldGrants {
  // The root's own: what a child was handed ends with the child.
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
