/** Leases that are no more: read from the logs of their tasks, for people to look at. @module */
import type { AgentTask, Lease, LeaseId, Store, TaskId } from "../../contracts/mod.ts";
import { leasesOf } from "../lease/events.ts";
import { bodyOf, type ReadPrivate } from "./read_events.ts";

const KINDS = ["leaseGranted", "leaseRevoked", "taskStatus"] as const;
/** Most leases that are read for one look at all tasks. */
const MOST = 1_000;

/** What {@link readLeases} is handed. */
export interface LeaseHistoryParts {
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
}

/**
 * All leases of these tasks, given newest first; oldest task first; of the newest tasks where they are too many. Those in
 * `live` are as it has them; of others that the log does not take back, their task's last word did.
 */
export async function readLeases(
  parts: LeaseHistoryParts,
  tasks: AsyncIterable<Pick<AgentTask, "id">> | Iterable<Pick<AgentTask, "id">>,
  live: readonly Lease[],
): Promise<readonly Lease[]> {
  const found = new Map<LeaseId, Lease>();
  for await (const { id } of tasks) {
    if (found.size >= MOST) break;
    for (const lease of (await readTask(parts, id)).toReversed()) found.set(lease.id, lease);
  }
  const held = new Map(live.map((lease) => [lease.id, lease]));
  const ended = [...found.values()].filter(({ id }) => !held.has(id));
  return [...ended.toReversed(), ...live];
}

async function readTask(
  { store, readPrivate }: LeaseHistoryParts,
  task: TaskId,
): Promise<readonly Lease[]> {
  const leases = new Map<string, Lease>();
  let last = 0;
  for (const event of await store.events({ task, fromN: 0, kinds: KINDS, limit: MOST })) {
    const { kind, at } = event;
    const body = bodyOf(event);
    last = at;
    if (kind === "leaseGranted") {
      const secret = await readPrivate(event);
      for (const lease of leasesOf({ task, at, body, secret })) {
        // One that is renewed is granted again.
        const { grantedAt = at } = leases.get(lease.id) ?? {};
        leases.set(lease.id, { ...lease, grantedAt });
      }
    } else if (kind === "leaseRevoked") {
      const lease = leases.get(String(body["lease"]));
      if (lease !== undefined) leases.set(lease.id, { ...lease, revokedAt: at });
    }
  }
  return [...leases.values()].map((lease) => ({ ...lease, revokedAt: lease.revokedAt ?? last }));
}
