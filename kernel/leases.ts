/** The lease table: rights that shrink, expire and can be taken back. DESIGN section 4, seed 004 section 59. @module */
import {
  type DocumentWrite,
  type EventLog,
  Fault,
  Lease,
  LeaseId,
  type Leases,
  type NewEvent,
  type Pid,
  type Powers,
  type Scope,
  type Store,
  type TaskId,
  toJsonObject,
} from "../contracts/mod.ts";
import { covers, scopeText } from "./lease_scope.ts";
import { makeLeaseRows } from "./lease_rows.ts";

/** What a lease is granted from. */
export type LeaseGrant = Parameters<Leases["grant"]>[0];

/** The lease table as the kernel holds it: the gate sees {@link Leases} only. */
export interface LeaseTable extends Leases {
  /**
   * Grants many to one task, at its start. They hold at once and are written with the next commit:
   * whatever is done under them is committed after them, or not at all.
   */
  grantAll(grants: readonly LeaseGrant[]): Promise<readonly Lease[]>;
  /** Forgets an ended task's leases; the log keeps them. */
  forget(task: TaskId): void;
  /** Stops watching for expiry. */
  close(): void;
}

const KIND = "lease";
/** Most leases of earlier kernels that are read back, for people to look at. */
const HISTORY = 1_000;
/** Milliseconds for which a task's first leases may wait for the commit of what comes next. */
const UNRECORDED = 100;

/**
 * Opens the table. Leases of an earlier kernel are listed and never alive again: process numbers
 * start anew, and a task that is resumed is granted its leases anew.
 */
export async function openLeases(
  { store, log, powers }: {
    readonly store: Pick<Store, "documents">;
    readonly log: EventLog;
    readonly powers: Pick<Powers, "now" | "id" | "after">;
  },
): Promise<LeaseTable> {
  const rows = makeLeaseRows();
  const earlier = makeLeaseRows();
  const listeners = new Set<(lease: Lease, why: "revoked" | "expired") => void>();
  const live = new Map<LeaseId, Lease>();
  const openedAt = powers.now();
  let cancelTimer = (): void => {};
  let timerAt = Infinity;

  for (const document of await store.documents({ kind: KIND, limit: HISTORY })) {
    const { data } = Lease.safeParse(document.body);
    if (data === undefined) continue;
    earlier.put(data.revokedAt === undefined ? { ...data, revokedAt: openedAt } : data);
  }

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
      cancelTimer = powers.after(Math.max(0, next - powers.now()), expire);
    }
  };

  const record = async (
    leases: readonly Lease[],
    how: { readonly withNext: boolean },
  ): Promise<readonly Lease[]> => {
    const [first] = leases;
    if (first === undefined) return [];
    const append = how.withNext ? log.appendWithNext ?? log.append : log.append;
    const events = leases.map((lease): NewEvent => ({
      kind: "leaseGranted",
      body: {
        lease: lease.id,
        ...(lease.parent === undefined ? {} : { parent: lease.parent }),
        pid: lease.pid,
        resource: lease.scope.resource,
        right: lease.scope.right,
        expiresAt: lease.expiresAt,
      },
      private: { path: lease.scope.path, reason: lease.reason },
    }));
    const documents = leases.map((lease) => write(lease, 0));
    if (how.withNext) joining(first.task, leases, append(first.task, events, documents));
    else await append(first.task, events, documents);
    for (const lease of leases) {
      rows.put(lease);
      live.set(lease.id, lease);
    }
    arm(leases);
    return leases;
  };

  /** Waits for the commit that they go with, not longer than {@link UNRECORDED}; without it they are dead. */
  const joining = (task: TaskId, leases: readonly Lease[], written: Promise<unknown>): void => {
    // An append of nothing makes the commit that did not come.
    const disarm = powers.after(UNRECORDED, () => void log.append(task, []).catch(() => undefined));
    written.catch(() => {
      // The log cannot be written: what the task appends next meets the same, and ends it.
      for (const lease of leases) {
        if (live.delete(lease.id)) rows.put({ ...lease, revokedAt: powers.now() });
      }
    }).finally(disarm);
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
    return record(grants.map(born), { withNext: true });
  };

  const take = async (leases: readonly Lease[], why: string): Promise<readonly LeaseId[]> => {
    const now = powers.now();
    // Dead in memory before the log has it: refusing early is safe, refusing late is not.
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
    await log.append(first.task, events, taken.map((lease) => write(lease, 1)));
    return taken.map(({ id }) => id);
  };

  const get = (id: LeaseId): Lease | undefined => rows.get(id) ?? earlier.get(id);

  return Object.freeze({
    async grant(grant: LeaseGrant): Promise<Lease> {
      const lease = born(grant);
      await record([lease], { withNext: false });
      return lease;
    },
    grantAll: async (grants: readonly LeaseGrant[]) => await grantAll(grants),
    async derive(parent: LeaseId, to: Parameters<Leases["derive"]>[1]): Promise<Lease> {
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
      const lease = born({ ...to, task: from.task });
      const [made] = await record([{ ...lease, parent }], { withNext: false });
      // The parent may have been taken back while the commit ran: then the child is dead already.
      return made ?? lease;
    },
    revoke: async (id: LeaseId, why: string) => await take(rows.subtree(id), why),
    alive,
    get,
    covering: (pid: Pid, scope: Scope) => rows.covering(pid, scope).find(({ id }) => alive(id)),
    dead(pid: Pid, scope: Scope): "revoked" | "expired" | undefined {
      const held = rows.covering(pid, scope);
      if (held.length === 0 || held.some(({ id }) => alive(id))) return undefined;
      return held.some((lease) => wasRevoked(lease, rows.get)) ? "revoked" : "expired";
    },
    list: (task?: TaskId) =>
      task === undefined
        ? [...earlier.all(), ...rows.all()]
        : [...earlier.ofTask(task), ...rows.ofTask(task)],
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

function write(lease: Lease, expect: number): DocumentWrite {
  return { kind: KIND, id: lease.id, task: lease.task, expect, body: toJsonObject(lease) };
}
