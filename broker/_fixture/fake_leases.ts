/** Leases in memory. @module */
import {
  type Lease,
  LeaseId,
  type Leases,
  Pid,
  type Scope,
} from "../../contracts/authority/mod.ts";
import type { Powers } from "../../contracts/task/mod.ts";

/** A lease table without a store. */
export interface FakeLeases extends Leases {
  end(id: LeaseId, why: "revoked" | "expired"): void;
}

/** Makes an empty table. */
export function fakeLeases(powers: Powers): FakeLeases {
  const rows = new Map<LeaseId, Lease>();
  const ended = new Map<LeaseId, "revoked" | "expired">();
  const listeners = new Set<(lease: Lease, why: "revoked" | "expired") => void>();
  const fits = (lease: Lease, pid: Pid, scope: Scope): boolean =>
    lease.pid === pid && lease.scope.resource === scope.resource &&
    lease.scope.right === scope.right &&
    (lease.scope.path === "" || lease.scope.path === scope.path ||
      scope.path.startsWith(`${lease.scope.path}/`));
  const end = (id: LeaseId, why: "revoked" | "expired"): void => {
    const lease = rows.get(id);
    ended.set(id, why);
    if (lease !== undefined) { for (const listener of listeners) listener(lease, why); }
  };
  const alive = (id: LeaseId): boolean => rows.has(id) && !ended.has(id);
  return {
    end,
    alive,
    grant: (lease) => {
      const made: Lease = { ...lease, id: LeaseId.parse(powers.id("l")), grantedAt: powers.now() };
      rows.set(made.id, made);
      return Promise.resolve(made);
    },
    derive: () => Promise.reject(new Error("not in this fake")),
    revoke: (id) => {
      end(id, "revoked");
      return Promise.resolve([id]);
    },
    get: (id) => rows.get(id),
    covering: (pid, scope) =>
      [...rows.values()].find((lease) => fits(lease, pid, scope) && alive(lease.id)),
    dead: (pid, scope) =>
      [...rows.values()].filter((lease) => fits(lease, pid, scope))
        .map((lease) => ended.get(lease.id)).find((why) => why !== undefined),
    list: () => [...rows.values()],
    onEnd: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
