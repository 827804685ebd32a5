/** The lease table: rights that shrink, expire and can be taken back. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { atMoment } from "../../../contracts/base/moment.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import { LeaseId, type Pid, type TaskId } from "../../../contracts/authority/ids.ts";
import { Lease, type Scope } from "../../../contracts/authority/lease.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { EventLog } from "../../../contracts/task/store.ts";
import { grantedEvents, makeLeaseRows } from "./rows.ts";
import { covers, scopeText } from "./scope.ts";

/** The task, process, scope, expiry and reason of a new lease. */
export type LeaseGrant = Parameters<Leases["grant"]>[0];

/** The lease table as the kernel holds it; the gate sees {@link Leases} only. */
export interface LeaseTable extends Leases {
  /**
   * Grants many leases to one task at its start. They hold at once and are logged with the next commit, alike ones as
   * one event: whatever happens under them is committed after them, or not at all.
   */
  grantAll(grants: readonly LeaseGrant[]): Promise<readonly Lease[]>;
  /** Derives each parent unchanged for another process of the task, logged like {@link grantAll}; dead parents are left out. */
  inherit(parents: readonly LeaseId[], to: Pick<Lease, "pid" | "reason">): readonly Lease[];
  /**
   * Prolongs the living ones of these leases, and leases derived from them with the same expiry: a
   * person gave the task more time.
   */
  renew(leases: readonly LeaseId[], expiresAt: number): Promise<void>;
  /** Drops an ended task's leases from memory; the log keeps them. */
  forget(task: TaskId): void;
  /** Stops watching for expiry. */
  close(): void;
}

/**
 * Makes the table of one kernel. A resumed task is granted its leases anew: process ids start with
 * the kernel, and leases of an earlier kernel are only history (lease_history.ts).
 */
export function makeLeases(
  { log, powers }: {
    readonly log: Pick<EventLog, "append" | "appendWithNext">;
    readonly powers: Pick<Powers, "now" | "id" | "after">;
  },
): LeaseTable {
  const rows = makeLeaseRows();
  const listeners = new Set<(lease: Lease, why: "revoked" | "expired") => void>();
  const live = new Map<LeaseId, Lease>();
  let cancelTimer = (): void => {};
  let timerAt = Infinity;

  const alive = (id: LeaseId): boolean => {
    const now = powers.now();
    for (let at: LeaseId | undefined = id; at !== undefined;) {
      const lease: Lease | undefined = live.get(at);
      if (lease === undefined || lease.expiresAt <= now) return false;
      at = lease.parent;
    }
    return true;
  };

  const ended = (leases: readonly Lease[], why: "revoked" | "expired"): void => {
    for (const lease of leases) for (const listener of listeners) listener(lease, why);
  };

  const expire = (): void => {
    timerAt = Infinity;
    const now = powers.now();
    const due = [...live.values()].filter((lease) => lease.expiresAt <= now);
    const gone = due.flatMap(({ id }) => rows.subtree(id)).filter(({ id }) => live.delete(id));
    ended(gone, "expired");
    arm(live.values());
  };
  const arm = (among: Iterable<Lease>): void => {
    let next = Infinity;
    for (const { expiresAt } of among) next = Math.min(next, expiresAt);
    if (next >= timerAt && timerAt !== Infinity) return;
    cancelTimer();
    timerAt = next;
    if (next !== Infinity) {
      cancelTimer = atMoment(powers, next, expire);
    }
  };

  const hold = (leases: readonly Lease[]): void => {
    for (const lease of leases) {
      rows.put(lease);
      live.set(lease.id, lease);
    }
    arm(leases);
  };

  const record = async (lease: Lease): Promise<Lease> => {
    await log.append(lease.task, grantedEvents([lease]));
    hold([lease]);
    return lease;
  };

  /** Logs leases with the next commit; if that commit fails, they are dead. */
  const joining = (task: TaskId, leases: readonly Lease[]): void => {
    const append = log.appendWithNext ?? log.append;
    append(task, grantedEvents(leases)).catch(() => {
      // The log cannot be written: the task's next append fails too, and ends the task.
      for (const lease of leases) {
        if (live.delete(lease.id)) rows.put({ ...lease, revokedAt: powers.now() });
      }
    });
  };

  const born = (grant: LeaseGrant): Lease => {
    const now = powers.now();
    if (grant.expiresAt <= now) {
      throw new Fault("refused", `Cannot grant ${scopeText(grant.scope)}: it would be expired`);
    }
    return Lease.parse({ ...grant, id: powers.id("l"), grantedAt: now });
  };

  const grantAll = (grants: readonly LeaseGrant[]): Promise<readonly Lease[]> => {
    if (grants.some(({ task }) => task !== grants[0]?.task)) {
      throw new TypeError("Cannot grant leases together: they are of several tasks");
    }
    const leases = grants.map(born);
    if (grants[0] !== undefined) joining(grants[0].task, leases);
    hold(leases);
    return Promise.resolve(leases);
  };

  const take = async (leases: readonly Lease[], why: string): Promise<readonly LeaseId[]> => {
    const now = powers.now();
    // Dead in memory before the log records it: refusing early is safe, refusing late is not.
    const taken = leases.filter(({ id }) => live.delete(id))
      .map((lease): Lease => ({ ...lease, revokedAt: now }));
    const [first] = taken;
    if (first === undefined) return [];
    for (const lease of taken) rows.put(lease);
    ended(taken, "revoked");
    const events = taken.map(({ id, pid }): NewEvent => ({
      kind: "leaseRevoked",
      body: { lease: id, pid },
      private: { why },
    }));
    await log.append(first.task, events);
    return taken.map(({ id }) => id);
  };

  const renew = async (ids: readonly LeaseId[], expiresAt: number): Promise<void> => {
    const more = ids.filter(alive).flatMap((id) => {
      const until = rows.get(id)?.expiresAt;
      return rows.subtree(id).filter((lease) => live.has(lease.id) && lease.expiresAt === until);
    }).filter((lease) => lease.expiresAt < expiresAt).map((lease) => ({ ...lease, expiresAt }));
    const [first] = more;
    if (first === undefined) return;
    await log.append(first.task, grantedEvents(more));
    for (const lease of more) {
      // A lease that was revoked while the commit ran stays revoked.
      if (!live.has(lease.id)) continue;
      rows.put(lease);
      live.set(lease.id, lease);
    }
    arm(live.values());
  };

  const derived = (parent: LeaseId, to: Parameters<Leases["derive"]>[1]): Lease => {
    const from = rows.get(parent);
    if (from === undefined || !alive(parent)) {
      throw new Fault("refused", `Cannot derive a lease from "${parent}": it is not alive`);
    }
    if (!covers(from.scope, to.scope)) {
      const [asked, held] = [scopeText(to.scope), scopeText(from.scope)];
      throw new Fault("refused", `Cannot derive ${asked}: "${parent}" covers only ${held}`);
    }
    if (to.expiresAt > from.expiresAt) {
      throw new Fault("refused", `Cannot derive a lease: it would outlive "${parent}"`);
    }
    return { ...born({ ...to, task: from.task }), parent };
  };

  return Object.freeze({
    grant: async (grant: LeaseGrant) => await record(born(grant)),
    grantAll: async (grants: readonly LeaseGrant[]) => await grantAll(grants),
    // The parent may be revoked while the commit runs; the child is dead then.
    derive: async (parent: LeaseId, to: Parameters<Leases["derive"]>[1]) =>
      await record(derived(parent, to)),
    inherit(parents: readonly LeaseId[], to: Pick<Lease, "pid" | "reason">): readonly Lease[] {
      const all = parents.flatMap((id) => {
        const from = rows.get(id);
        if (from === undefined || !alive(id)) return [];
        const { scope, expiresAt } = from;
        return derived(id, { ...to, scope, expiresAt });
      });
      const [first] = all;
      if (first !== undefined) joining(first.task, all);
      hold(all);
      return all;
    },
    renew,
    revoke: async (id: LeaseId, why: string) => await take(rows.subtree(id), why),
    alive,
    get: rows.get,
    covering: (pid: Pid, scope: Scope) => rows.covering(pid, scope).find(({ id }) => alive(id)),
    dead(pid: Pid, scope: Scope): "revoked" | "expired" | undefined {
      const held = rows.covering(pid, scope);
      if (held.length === 0 || held.some(({ id }) => alive(id))) return undefined;
      return held.some((lease) => wasRevoked(lease, rows.get)) ? "revoked" : "expired";
    },
    list: (task?: TaskId) => task === undefined ? rows.all() : rows.ofTask(task),
    onEnd(listener: (lease: Lease, why: "revoked" | "expired") => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    forget(task: TaskId): void {
      for (const { id } of rows.ofTask(task)) live.delete(id);
      rows.drop(task);
    },
    close: () => cancelTimer(),
  });
}

function wasRevoked(lease: Lease, get: (id: LeaseId) => Lease | undefined): boolean {
  for (let at: Lease | undefined = lease; at !== undefined;) {
    if (at.revokedAt !== undefined) return true;
    at = at.parent === undefined ? undefined : get(at.parent);
  }
  return false;
}

/** The fault of work whose lease has ended. `words` makes its message from "its lease has expired", for example. */
export function leaseEnded(why: "revoked" | "expired", words: (how: string) => string): Fault {
  return why === "revoked"
    ? new Fault("leaseRevoked", words("its lease was taken back"))
    : new Fault("leaseExpired", words("its lease has expired"));
}

/** A process's leases of `scopes`. Throws for the first scope without a lease; `name` completes "Cannot run …". */
export function leasesOf(
  leases: Pick<Leases, "covering" | "dead">,
  { pid, scopes, name }: {
    readonly pid: Pid;
    readonly scopes: readonly Scope[];
    readonly name: string;
  },
): readonly Lease[] {
  return scopes.map((scope) => {
    const lease = leases.covering(pid, scope);
    if (lease !== undefined) return lease;
    const dead = leases.dead(pid, scope);
    const what = `Cannot run ${name} on ${JSON.stringify(scope.path)}`;
    if (dead !== undefined) throw leaseEnded(dead, (how) => `${what}: ${how}`);
    throw new Fault("refused", `${what}: no lease of this process covers it`);
  });
}
