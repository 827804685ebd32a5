/** How the log says that leases were granted. What they are for is private: a path may be a secret. @module */
import { type JsonObject, Lease, type NewEvent, Scope, type TaskId } from "../../contracts/mod.ts";

/** The events of leases that are granted, or renewed: one for all that one process has alike. */
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

/** The leases of either event, as they were granted; none once their private part is erased. */
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
