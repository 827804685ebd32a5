/** A shared resource as the fold of its changes, and the event of each change. Pure: time is passed in. @module */
import { type JsonObject, toJson } from "../../contracts/base/json.ts";
import type { NewEvent } from "../../contracts/task/event.ts";
import {
  type ConflictReport,
  type ListItem,
  overlaps,
  RESOURCE_LIMITS,
  type ResourceChange,
  type ResourceOwner,
  type ResourceRef,
  SharedResource,
} from "../../contracts/task/resources.ts";
import { Fault, unreachable } from "../../contracts/base/mod.ts";

/** An empty resource. */
export function emptyResource(ref: ResourceRef, createdAt: number): SharedResource {
  return {
    ...{ ref, createdAt, generation: 1 },
    ...{ leases: [], conflicts: [], watches: [], versions: [], items: [] },
  };
}

/** Whether a resource is empty and may be dropped. */
export function isEmpty(resource: SharedResource): boolean {
  const { leases, conflicts, watches, versions, items } = resource;
  return leases.length + watches.length + items.length + versions.length === 0 &&
    !conflicts.some(({ state }) => state === "open");
}

/** Parses a resource's document; undefined for an empty body, which means an empty resource. @throws Fault `storeCorrupt` */
export function parseResource(id: string, body: JsonObject): SharedResource | undefined {
  if (Object.keys(body).length === 0) return undefined;
  const parsed = SharedResource.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new Fault("storeCorrupt", `Cannot read resource "${id}": it does not parse`);
}

/** The resource after a change. */
export function foldResource(resource: SharedResource, change: ResourceChange): SharedResource {
  return { ...folded(resource, change), generation: resource.generation + 1 };
}

function folded(resource: SharedResource, change: ResourceChange): SharedResource {
  const { leases, conflicts, watches } = resource;
  switch (change.what) {
    case "claimed":
      return { ...resource, leases: [...leases, change.lease] };
    case "renewed":
      return {
        ...resource,
        leases: leases.map((each) =>
          each.id === change.lease
            ? { ...each, expiresAt: change.expiresAt, renewals: each.renewals + 1 }
            : each
        ),
      };
    case "ended":
      return {
        ...resource,
        leases: leases.filter(({ id }) => id !== change.lease),
        // The claimant may claim now, so no decision is needed.
        conflicts: conflicts.map((each) =>
          each.lease === change.lease && each.state === "open" ? { ...each, state: "over" } : each
        ),
        // One-time watches end with this notice.
        watches: watches.filter(({ once, scope }) =>
          !once || !leases.some((each) => each.id === change.lease && overlaps(each.scope, scope))
        ),
        // The claim's item is open again, unless it is done.
        items: resource.items.map((item) =>
          item.lease === change.lease && item.state === "claimed" ? reopened(item, change.at) : item
        ),
      };
    case "shared":
      return {
        ...resource,
        leases: leases.map((each) => each.id === change.lease ? { ...each, mode: "shared" } : each),
      };
    case "conflict":
      return { ...resource, conflicts: withConflict(conflicts, change.report) };
    case "decided":
      return {
        ...resource,
        conflicts: conflicts.map((each) =>
          each.id === change.conflict
            ? {
              ...each,
              state: "decided",
              approver: change.approver,
              decision: change.decision,
            }
            : each
        ),
      };
    case "over":
      return {
        ...resource,
        conflicts: conflicts.map((each) =>
          each.id === change.conflict && each.state === "open" ? { ...each, state: "over" } : each
        ),
      };
    case "watched":
      return {
        ...resource,
        watches: [
          ...watches.filter(({ task, scope }) =>
            task !== change.watch.task || scope !== change.watch.scope
          ),
          change.watch,
        ],
      };
    case "unwatched":
      return {
        ...resource,
        watches: watches.filter(({ task, scope }) =>
          task !== change.task || scope !== change.scope
        ),
      };
    case "written":
      return {
        ...resource,
        versions: [
          ...resource.versions.filter(({ scope }) => scope !== change.scope),
          { scope: change.scope, version: change.version },
        ],
      };
    case "item":
      return {
        ...resource,
        items: withItem(resource.items, change.item),
      };
    case "dropped":
      return {
        ...resource,
        items: resource.items.filter(({ number }) => number !== change.item),
      };
    case "forgotten":
      return forgotten(resource, change.task);
    case "cleared":
      return emptyResource(resource.ref, resource.createdAt);
    default:
      return unreachable(change);
  }
}

const reopened = ({ owner: _owner, lease: _lease, ...item }: ListItem, at: number): ListItem => ({
  ...{ ...item, state: "open", generation: item.generation + 1, changedAt: at },
});

/** Adds or replaces an item; in a full list the oldest completed item is dropped. */
function withItem(items: readonly ListItem[], item: ListItem): ListItem[] {
  const all = [...items.filter(({ number }) => number !== item.number), item]
    .sort((a, b) => a.number - b.number);
  const gone = all.length > RESOURCE_LIMITS.items
    ? all.find(({ state }) => state === "done")?.number
    : undefined;
  return all.filter(({ number }) => number !== gone);
}

/** Adds a report; keeps open conflicts and the latest of the others. */
function withConflict(
  conflicts: readonly ConflictReport[],
  report: ConflictReport,
): ConflictReport[] {
  const all = [...conflicts.filter(({ id }) => id !== report.id), report];
  let over = all.length - RESOURCE_LIMITS.conflicts;
  return all.filter(({ state }) => state === "open" || over-- <= 0);
}

/** Erases the texts of a purged task, and reports about it. */
function forgotten(resource: SharedResource, task: ResourceOwner["task"]): SharedResource {
  const ofTask = (owner: ResourceOwner | undefined): boolean => owner?.task === task;
  return {
    ...resource,
    leases: resource.leases.filter(({ owner }) => !ofTask(owner)),
    conflicts: resource.conflicts.filter(({ claimant, holder }) =>
      !ofTask(claimant) && !ofTask(holder)
    ),
    watches: resource.watches.filter((watch) => watch.task !== task),
    items: resource.items.map((item) => ofTask(item.author) ? { ...item, text: "(erased)" } : item),
  };
}

/** Whether a task has claims, items, watches or conflicts in a resource. */
export function takesPart(
  { leases, conflicts, watches, items }: SharedResource,
  task: ResourceOwner["task"],
): boolean {
  return leases.some(({ owner }) => owner.task === task) ||
    watches.some((watch) => watch.task === task) ||
    items.some(({ author, owner }) => author.task === task || owner?.task === task) ||
    conflicts.some(({ claimant, holder }) => claimant.task === task || holder?.task === task);
}

/** Whether two owners are the same process of the same task. */
export function sameOwner(a: ResourceOwner, b: ResourceOwner): boolean {
  return a.task === b.task && a.child === b.child;
}

/** The changes due by time: expired claims. */
export function dueChanges(resource: SharedResource, now: number): readonly ResourceChange[] {
  return resource.leases.filter(({ expiresAt }) => expiresAt <= now).map(({ id }) => ({
    ...{ what: "ended" as const, lease: id, reason: "expired" as const, at: now },
  }));
}

/** The event of a change: ids, fixed words and times; text of people and models is in the private part. */
export function eventOf(ref: ResourceRef, change: ResourceChange): NewEvent {
  return {
    kind: "resource",
    body: { what: change.what, kind: ref.slice(0, ref.indexOf(":")), ...publicOf(change) },
    private: { resource: ref, change: toJson(change) },
  };
}

function publicOf(change: ResourceChange): JsonObject {
  switch (change.what) {
    case "claimed": {
      const { id, mode, owner, phase, expiresAt, colour, label } = change.lease;
      return { lease: id, mode, owner: owner.task, phase, expiresAt, colour, label };
    }
    case "renewed":
      return { lease: change.lease, expiresAt: change.expiresAt };
    case "ended":
      return { lease: change.lease, reason: change.reason };
    case "shared":
      return { lease: change.lease };
    case "conflict": {
      const { id, about, holder, claimant, lease, supervisor, observed, current } = change.report;
      return {
        ...{ conflict: id, about, claimant: claimant.task, supervisor },
        ...(holder === undefined ? {} : { holder: holder.task }),
        ...(lease === undefined ? {} : { lease }),
        ...(observed === undefined ? {} : { observed: observed.kind }),
        ...(current === undefined ? {} : { current: current.kind }),
      };
    }
    case "decided":
      return { conflict: change.conflict, decision: change.decision, approver: change.approver };
    case "over":
      return { conflict: change.conflict };
    case "written":
      return { version: change.version.kind };
    case "item": {
      const { number, state, generation, owner } = change.item;
      return {
        ...{ item: number, state, observedVersion: `${generation - 1}` },
        ...{ writtenVersion: `${generation}` },
        ...(owner === undefined ? {} : { owner: owner.task }),
      };
    }
    case "dropped":
      return { item: change.item };
    case "watched":
      return { task: change.watch.task };
    case "cleared":
      return { approver: change.approver };
    case "unwatched":
    case "forgotten":
      return { task: change.task };
  }
}
