/** Leases in memory: by id, by process, by parent. Synchronous, without a clock. @module */
import type { Lease, LeaseId, Pid, Scope, TaskId } from "../../contracts/mod.ts";
import { covers } from "./scope.ts";

/** The rows, and the ways to find them. */
export interface LeaseRows {
  put(lease: Lease): void;
  get(id: LeaseId): Lease | undefined;
  ofTask(task: TaskId): readonly Lease[];
  all(): readonly Lease[];
  /** The lease and every lease derived from it, parents first. */
  subtree(id: LeaseId): readonly Lease[];
  /** Leases of a process that cover a scope, oldest first. */
  covering(pid: Pid, scope: Scope): readonly Lease[];
  /** Forgets a task's leases. */
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
      // A child is granted after its parent, so the list never loops.
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
