/**
 * Items of shared task lists: each has a generation, and whoever changes one names the generation that they saw. A
 * claim of an item is a claim of its scope: it expires, and the item is anybody's again.
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

/** An item as its changer saw it. */
export interface SeenItem {
  readonly resource: ResourceRef;
  readonly number: number;
  readonly generation: number;
}

/** What came of a change of an item. */
export type ItemOutcome =
  | { readonly kind: "changed"; readonly item: ListItem }
  | { readonly kind: "conflict"; readonly report: ConflictReport };

/** The task lists of one kernel. All reject `notFound` for an item that is not there. */
export interface TaskLists {
  /** Rejects `tooLarge` for a list that is full. */
  addItem(list: ResourceRef, text: string, by: Claimant): Promise<ListItem>;
  /** The caller works on it from now on; a renewal where they do already. */
  claimItem(item: SeenItem & { readonly until?: number }, by: Claimant): Promise<ItemOutcome>;
  /** The caller, whose item it is, did it. Rejects `refused` where they never claimed it. */
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

/** The part of a list that an item is. */
function scopeOfItem(number: number): ResourceScope {
  return ResourceScope.parse(`items/${number}`);
}

/** The same words of the same author, while they are open, are one item. @throws Fault `tooLarge` */
export function itemAdded(
  list: SharedResource,
  text: string,
  by: Claimant,
  now: number,
): { readonly item: ListItem; readonly added: boolean } {
  const { items } = list;
  // The same call again, after a crash.
  const same = items.find((item) =>
    item.text === text && item.state === "open" && sameOwner(item.author, by.owner)
  );
  if (same !== undefined) return { item: same, added: false };
  // What is done makes room, oldest first: nobody waits for it.
  if (items.length >= RESOURCE_LIMITS.items && !items.some(({ state }) => state === "done")) {
    throw full("items");
  }
  const item: ListItem = {
    ...{ number: (items.at(-1)?.number ?? 0) + 1, text, state: "open", generation: 1 },
    ...{ author: by.owner, colour: by.colour, label: by.label, changedAt: now },
  };
  return { item, added: true };
}

/** @throws Fault `notFound`, `conflict` (it is done) */
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

/** @throws Fault `notFound`, `refused` (the caller does not work on it) */
export function itemDone(
  list: SharedResource,
  wanted: SeenItem,
  by: Claimant,
  at: At,
): Plan {
  const item = itemIn(list, wanted.number);
  const mine = item.owner !== undefined && sameOwner(item.owner, by.owner);
  // The same call again, after a crash.
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

/** Items that are done, of tasks that are over: nobody asks for them any more. */
export function itemsOver(
  { items }: Pick<SharedResource, "items">,
  isOver: (task: TaskId) => boolean,
): readonly ResourceChange[] {
  const over = items.filter(({ state, author, owner }) =>
    state === "done" && isOver(author.task) && (owner === undefined || isOver(owner.task))
  );
  // While others stay the last one does: a number that comes again would be taken for the item that had it.
  const gone = over.length === items.length ? over : over.filter((each) => each !== items.at(-1));
  return gone.map(({ number }) => ({ what: "dropped", item: number }));
}

/** What the caller saw is not what stands there: both are told which is which. */
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
