/** Leases in memory: by id, by process, by parent. Synchronous, without a clock. @module */
import { Lease, Scope } from "../../../contracts/authority/lease.ts";
import type { LeaseId, Pid, TaskId } from "../../../contracts/authority/mod.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import type { NewEvent } from "../../../contracts/task/mod.ts";
import { covers } from "./scope.ts";

/** The rows and their indexes. */
interface LeaseRows {
  put(lease: Lease): void;
  get(id: LeaseId): Lease | undefined;
  ofTask(task: TaskId): readonly Lease[];
  all(): readonly Lease[];
  /** A lease and all leases derived from it, parents first. */
  subtree(id: LeaseId): readonly Lease[];
  /** Leases of a process that cover a scope, oldest first. */
  covering(pid: Pid, scope: Scope): readonly Lease[];
  /** Drops a task's leases. */
  drop(task: TaskId): void;
}

/** Makes an empty table. */
export function makeLeaseRows(): LeaseRows {
  const rows = new Map<LeaseId, Lease>();
  const byPid = new Map<Pid, LeaseId[]>();
  const byTask = new Map<TaskId, LeaseId[]>();
  const children = new Map<LeaseId, LeaseId[]>();

  const found = (ids: readonly LeaseId[] | undefined): readonly Lease[] =>
    (ids ?? []).flatMap((id) => rows.get(id) ?? []);

  return Object.freeze({
    put(lease: Lease): void {
      const known = rows.has(lease.id);
      rows.set(lease.id, Object.freeze(lease));
      if (known) return;
      add(byPid, lease.pid, lease.id);
      add(byTask, lease.task, lease.id);
      if (lease.parent !== undefined) add(children, lease.parent, lease.id);
    },
    get: (id: LeaseId) => rows.get(id),
    ofTask: (task: TaskId) => found(byTask.get(task)),
    all: () => [...rows.values()],
    subtree(id: LeaseId): readonly Lease[] {
      const ids = [id];
      // A child is granted after its parent, so the walk never loops.
      for (let i = 0; i < ids.length; i++) {
        const at = ids[i];
        if (at !== undefined) ids.push(...children.get(at) ?? []);
      }
      return found(ids);
    },
    covering: (pid: Pid, scope: Scope) =>
      found(byPid.get(pid)).filter((lease) => covers(lease.scope, scope)),
    drop(task: TaskId): void {
      for (const lease of found(byTask.get(task))) {
        rows.delete(lease.id);
        byPid.delete(lease.pid);
        children.delete(lease.id);
      }
      byTask.delete(task);
    },
  });
}

function add<K>(map: Map<K, LeaseId[]>, key: K, id: LeaseId): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [id]);
  else list.push(id);
}

/** Events for granted or renewed leases; alike leases of one process share an event. */
export function grantedEvents(leases: readonly Lease[]): readonly NewEvent[] {
  const alike = new Map<string, [Lease, ...Lease[]]>();
  for (const lease of leases) {
    const { id, parent, pid, expiresAt, reason } = lease;
    const key = parent === undefined ? JSON.stringify([pid, expiresAt, reason]) : id;
    const before = alike.get(key);
    if (before === undefined) alike.set(key, [lease]);
    else before.push(lease);
  }
  return [...alike.values()].map((each) => each.length === 1 ? ofOne(each[0]) : ofAll(each));
}

function ofOne({ id, parent, pid, scope, expiresAt, reason }: Lease): NewEvent {
  const { resource, right, path } = scope;
  return {
    kind: "leaseGranted",
    body: {
      lease: id,
      ...(parent === undefined ? {} : { parent }),
      ...{ pid, resource, right, expiresAt },
    },
    private: { path, reason },
  };
}

function ofAll(leases: readonly [Lease, ...Lease[]]): NewEvent {
  const [{ pid, expiresAt, reason }] = leases;
  return {
    kind: "leaseGranted",
    body: {
      ...{ pid, expiresAt },
      leases: leases.map(({ id, scope: { resource, right } }) => ({ lease: id, resource, right })),
    },
    private: { paths: leases.map(({ scope }) => scope.path), reason },
  };
}

/** Reads the leases of a `leaseGranted` event of either form; empty once the event's private part is erased. */
export function leasesOf(
  { task, at, body, secret = {} }: {
    readonly task: TaskId;
    readonly at: number;
    readonly body: JsonObject;
    readonly secret?: JsonObject | undefined;
  },
): readonly Lease[] {
  const { leases, parent, pid, expiresAt } = body;
  const paths = Array.isArray(secret["paths"]) ? secret["paths"] : [secret["path"]];
  return (Array.isArray(leases) ? leases : [body]).flatMap((each, i) => {
    const { lease, resource, right } = Object(each);
    const scope = Scope.safeParse({ resource, right, path: paths[i] });
    const found = Lease.safeParse({
      ...{ id: lease, task, pid, scope: scope.data, expiresAt },
      ...(parent === undefined ? {} : { parent }),
      ...{ grantedAt: at, reason: secret["reason"] },
    });
    return found.success ? [found.data] : [];
  });
}
