/**
 * Items of shared task lists. Each item has a generation, and a change names the generation that
 * its author has read. Claiming an item claims its scope; when the claim expires, the item is open
 * again. Used by registry.ts and tools.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import {
  type Claimant,
  type ConflictReport,
  type ListItem,
  RESOURCE_LIMITS,
  type ResourceChange,
  type ResourceRef,
  ResourceScope,
  type ResourceVersion,
  type SharedResource,
} from "../../contracts/task/resources.ts";
import { claimed, conflicting, full, type NewIds } from "./claim.ts";
import { foldResource, sameOwner } from "./fold.ts";

/** An item with the generation that the caller has read. */
export interface SeenItem {
  readonly resource: ResourceRef;
  readonly number: number;
  readonly generation: number;
}

/** The result of a change of an item. */
export type ItemOutcome =
  | { readonly kind: "changed"; readonly item: ListItem }
  | { readonly kind: "conflict"; readonly report: ConflictReport };

/** The task lists of one kernel. All reject `notFound` for an unknown item. */
export interface TaskLists {
  /** Adds an item. Rejects `tooLarge` for a full list. */
  addItem(list: ResourceRef, text: string, by: Claimant): Promise<ListItem>;
  /** Assigns the item to the caller, or renews the caller's claim. */
  claimItem(item: SeenItem & { readonly until?: number }, by: Claimant): Promise<ItemOutcome>;
  /** Completes the caller's item. Rejects `refused` if the caller has not claimed it. */
  finishItem(item: SeenItem, by: Claimant): Promise<ItemOutcome>;
}

interface At {
  readonly now: number;
  readonly ids: NewIds;
  readonly leasesOfTask: number;
}

interface Plan {
  readonly changes: readonly ResourceChange[];
  readonly answer: ItemOutcome;
}

/** The scope of an item within its list. */
function scopeOfItem(number: number): ResourceScope {
  return ResourceScope.parse(`items/${number}`);
}

/** Adds an item, unless the author has an open item with the same text. @throws Fault `tooLarge` */
export function itemAdded(
  list: SharedResource,
  text: string,
  by: Claimant,
  now: number,
): { readonly item: ListItem; readonly added: boolean } {
  const { items } = list;
  // The same call, repeated after a crash.
  const same = items.find((item) =>
    item.text === text && item.state === "open" && sameOwner(item.author, by.owner)
  );
  if (same !== undefined) return { item: same, added: false };
  // Completed items make room, oldest first.
  if (items.length >= RESOURCE_LIMITS.items && !items.some(({ state }) => state === "done")) {
    throw full("items");
  }
  const item: ListItem = {
    ...{ number: (items.at(-1)?.number ?? 0) + 1, text, state: "open", generation: 1 },
    ...{ author: by.owner, colour: by.colour, label: by.label, changedAt: now },
  };
  return { item, added: true };
}

/** Claims an item. @throws Fault `notFound`, `conflict` (it is done) */
export function itemClaimed(
  list: SharedResource,
  wanted: SeenItem & { readonly until?: number },
  by: Claimant,
  at: At,
): Plan {
  const item = itemIn(list, wanted.number);
  const scope = scopeOfItem(item.number);
  if (item.state === "done") {
    throw new Fault("conflict", `Cannot claim item ${item.number}: it is done`);
  }
  const mine = item.owner !== undefined && sameOwner(item.owner, by.owner);
  if (!mine && item.state === "open" && item.generation !== wanted.generation) {
    return stale(list, item, wanted, by, at);
  }
  const { resource, until } = wanted;
  const { changes, lease, report } = claimed(
    list,
    { resource, scope, mode: "exclusive", ...(until === undefined ? {} : { until }) },
    by,
    at,
  );
  if (report !== undefined) return { changes, answer: { kind: "conflict", report } };
  if (lease === undefined) throw new TypeError("a claim is held, or in conflict");
  if (mine && item.state === "claimed") return { changes, answer: { kind: "changed", item } };
  const after = itemIn(changes.reduce(foldResource, list), item.number);
  const taken: ListItem = {
    ...after,
    ...{ state: "claimed", generation: after.generation + 1, owner: by.owner, lease: lease.id },
    changedAt: at.now,
  };
  return {
    changes: [...changes, { what: "item", item: taken }],
    answer: { kind: "changed", item: taken },
  };
}

/** Completes an item. @throws Fault `notFound`, `refused` (not claimed by the caller) */
export function itemDone(
  list: SharedResource,
  wanted: SeenItem,
  by: Claimant,
  at: At,
): Plan {
  const item = itemIn(list, wanted.number);
  const mine = item.owner !== undefined && sameOwner(item.owner, by.owner);
  // The same call, repeated after a crash.
  if (mine && item.state === "done") return { changes: [], answer: { kind: "changed", item } };
  if (item.generation !== wanted.generation) return stale(list, item, wanted, by, at);
  if (!mine || item.state !== "claimed") {
    throw new Fault(
      "refused",
      `Cannot finish item ${item.number}: you do not work on it; claim it first`,
    );
  }
  const { lease, ...rest } = item;
  const done: ListItem = {
    ...{ ...rest, state: "done", generation: item.generation + 1, changedAt: at.now },
  };
  return {
    changes: [
      { what: "item", item: done },
      ...(lease === undefined
        ? []
        : [{ what: "ended" as const, lease, reason: "done" as const, at: at.now }]),
    ],
    answer: { kind: "changed", item: done },
  };
}

/** Drops completed items of finished tasks. */
export function itemsOver(
  { items }: Pick<SharedResource, "items">,
  isOver: (task: TaskId) => boolean,
): readonly ResourceChange[] {
  const over = items.filter(({ state, author, owner }) =>
    state === "done" && isOver(author.task) && (owner === undefined || isOver(owner.task))
  );
  // Keep the last item while others remain: its number must not be reused.
  const gone = over.length === items.length ? over : over.filter((each) => each !== items.at(-1));
  return gone.map(({ number }) => ({ what: "dropped", item: number }));
}

/** The conflict of an outdated generation. */
function stale(
  list: SharedResource,
  item: ListItem,
  wanted: SeenItem,
  by: Claimant,
  at: At,
): Plan {
  const { owner, lease } = item;
  const version = (generation: number): ResourceVersion => ({
    ...{ kind: "generation", value: `${generation}` },
  });
  const { changes, report } = conflicting(
    list,
    {
      ...{ scope: scopeOfItem(item.number), about: "version" },
      ...{ mode: "exclusive", colour: by.colour, label: by.label },
      ...{ observed: version(wanted.generation), current: version(item.generation) },
      ...(owner === undefined ? {} : { holder: owner }),
      ...(lease === undefined ? {} : { lease }),
      supervisor: by.supervisor ?? (owner?.task === by.owner.task ? by.owner.task : "host"),
    },
    by,
    at,
  );
  return { changes, answer: { kind: "conflict", report } };
}

function itemIn(list: SharedResource, number: number): ListItem {
  const found = list.items.find((item) => item.number === number);
  if (found !== undefined) return found;
  throw new Fault(
    "notFound",
    `Cannot find item ${number}: list what there is with action "list"`,
  );
}
