/**
 * The shared resources of one kernel. Each change commits an event and the resulting state; changes
 * of one resource are serialized. Expired claims count as ended at any look, and an event records
 * that.
 *
 * @example
 * ```ts
 * import { openResources, type ResourceParts } from "./registry.ts";
 * async function list(parts: ResourceParts): Promise<readonly string[]> {
 *   return (await (await openResources(parts)).list()).map(({ ref }) => ref);
 * }
 * ```
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { type JsonObject, toJsonObject } from "../../contracts/base/json.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import {
  type Claimant,
  type ClaimOutcome,
  ConflictId,
  type ConflictReport,
  RESOURCE_LIMITS,
  type ResourceChange,
  ResourceLeaseId,
  ResourceRef,
  SharedResource,
  type SharedResources,
  type WriteOutcome,
} from "../../contracts/task/resources.ts";
import type { EventLog, Powers, Store } from "../../contracts/task/mod.ts";
import {
  claimed,
  conflicting,
  decided,
  endedOwner,
  ending,
  full,
  leaseIn,
  type NewIds,
  written,
} from "./claim.ts";
import {
  dueChanges,
  emptyResource,
  eventOf,
  foldResource,
  isEmpty,
  parseResource,
  sameOwner,
  takesPart,
} from "./fold.ts";
import { itemAdded, itemClaimed, itemDone, itemsOver, type TaskLists } from "./task_list.ts";

/** The parts of {@link openResources}. */
export interface ResourceParts {
  readonly store: Pick<Store, "document" | "documents">;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "now" | "id" | "after">;
  /** Whether events may be appended to a task's log: known and not purged. */
  hasLog(task: TaskId): boolean;
  /** Whether a task is known and finished. */
  isOver(task: TaskId): boolean;
  /** Called with each change once it is durable, and the resource before it. */
  onChange?(change: ResourceChange, before: SharedResource): void;
  /** Called with each report of {@link SharedResources.report} once it is durable. */
  onFinding?(report: ConflictReport): void;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
  /** Number of resources up to which completed items are kept; absent: 256. */
  readonly keeps?: number;
}

/** The kernel's registry of resources. */
export interface Resources extends SharedResources, TaskLists {
  /**
   * Cleans up after earlier kernels, once the tasks are known: ends claims of ended tasks, and
   * notifies supervisors of open conflicts again.
   */
  recover(): Promise<void>;
  /** Frees the claims of an ended task or child process. */
  ownerEnded(task: TaskId, child?: number): Promise<void>;
  /** Erases the texts of a purged task. */
  forget(task: TaskId): Promise<void>;
  close(): void;
}

/** Kind of the documents, and chain for changes without a task or whose task has no log here. */
const KIND = "resource", CHAIN = "resources";
/** Maximum wait of one timer in milliseconds, because clocks are set and machines sleep. */
const LOOK_MS = 60_000;

interface Kept {
  readonly state: SharedResource;
  readonly version: number;
}

/** A planned change: the changes, and the caller's answer once they are durable. */
interface Plan<T> {
  readonly changes: readonly ResourceChange[];
  readonly answer: T;
}

/** Opens the registry stored by earlier kernels. @throws Fault `storeCorrupt` for a document that does not parse */
export async function openResources(parts: ResourceParts): Promise<Resources> {
  const { store, log, powers } = parts;
  const kept = new Map<ResourceRef, Kept>();
  const busy = new Map<ResourceRef, Promise<unknown>>();
  let stopTimer: (() => void) | undefined;
  let closed = false;

  const read = (id: string, body: JsonObject, version: number): Kept | undefined => {
    const state = parseResource(id, body);
    return state === undefined ? undefined : { state, version };
  };
  for (const { id, body, version } of await store.documents({ kind: KIND, limit: 100_000 })) {
    const found = read(id, body, version);
    if (found !== undefined) kept.set(ResourceRef.parse(id), found);
  }
  // Child processes ended with their kernel. Collect their claims now: children of this kernel may claim before `recover` is done.
  const orphans = [...kept.values()].flatMap(({ state }) =>
    state.leases.filter(({ owner }) => owner.child !== undefined)
  );

  const ids: NewIds = {
    lease: () => ResourceLeaseId.parse(powers.id("r")),
    conflict: () => ConflictId.parse(powers.id("c")),
  };

  const load = async (ref: ResourceRef): Promise<Kept> => {
    const known = kept.get(ref);
    if (known !== undefined) return known;
    // A dropped resource left an empty document, whose version continues.
    const row = await store.document(KIND, ref);
    const found = row === undefined ? undefined : read(ref, row.body, row.version);
    return found ?? { state: emptyResource(ref, powers.now()), version: row?.version ?? 0 };
  };

  /** Limits the number of resources, in all and for one task. */
  const checkRoom = (by: TaskId | undefined): void => {
    if (kept.size >= RESOURCE_LIMITS.resources) throw full("resources");
    const own = by === undefined
      ? []
      : [...kept.values()].filter(({ state }) => takesPart(state, by));
    if (own.length < RESOURCE_LIMITS.resourcesOfTask) return;
    throw new Fault(
      "tooLarge",
      `Cannot use another resource: a task takes part in ${RESOURCE_LIMITS.resourcesOfTask} at most`,
    );
  };

  /** Runs a change, serialized by resource; expired claims are ended first, in the same commit. */
  const change = async <T>(
    ref: ResourceRef,
    by: TaskId | undefined,
    plan: (now: SharedResource) => Plan<T>,
  ): Promise<T> => {
    const before = busy.get(ref) ?? Promise.resolve();
    const turn = before.then(async () => {
      const { state, version } = await load(ref);
      if (!kept.has(ref)) checkRoom(by);
      const due = dueChanges(state, powers.now());
      const standing = due.reduce(foldResource, state);
      const { changes, answer } = plan(standing);
      const all = [...due, ...changes];
      if (all.length === 0) return answer;
      const steps: SharedResource[] = [state];
      for (const each of all) steps.push(foldResource(steps.at(-1) ?? state, each));
      const next = steps.at(-1) ?? state;
      const chain = by !== undefined && parts.hasLog(by) ? by : CHAIN;
      await log.append(chain, all.map((each) => eventOf(ref, each)), [{
        ...{ kind: KIND, id: ref, task: CHAIN, expect: version },
        body: isEmpty(next) ? {} : toJsonObject(next),
      }]);
      if (isEmpty(next)) kept.delete(ref);
      else kept.set(ref, { state: next, version: version + 1 });
      all.forEach((each, n) => parts.onChange?.(each, steps[n] ?? state));
      arm();
      return answer;
    });
    const last = turn.catch(() => undefined);
    busy.set(ref, last);
    return await turn.finally(() => busy.get(ref) === last && busy.delete(ref));
  };

  /** Ends expired claims. */
  const sweep = async (): Promise<void> => {
    for (const [ref, { state }] of [...kept]) {
      if (dueChanges(state, powers.now()).length === 0) continue;
      await change(ref, undefined, () => ({ changes: [], answer: undefined }));
    }
  };
  const arm = (): void => {
    stopTimer?.();
    stopTimer = undefined;
    const next = Math.min(
      ...[...kept.values()].flatMap(({ state }) => state.leases.map(({ expiresAt }) => expiresAt)),
    );
    if (closed || next === Infinity) return;
    stopTimer = powers.after(Math.min(Math.max(next - powers.now(), 0) + 1, LOOK_MS), () => {
      sweep().catch((error: unknown) => parts.note(`Claims were not ended: ${String(error)}`))
        .finally(arm);
    });
  };

  const leasesOf = (task: TaskId): number =>
    [...kept.values()].flatMap(({ state }) => state.leases)
      .filter(({ owner, expiresAt }) => owner.task === task && expiresAt > powers.now()).length;
  const at = (by: Claimant): Parameters<typeof claimed>[3] => ({
    ...{ now: powers.now(), ids, leasesOfTask: leasesOf(by.owner.task) },
  });

  /** The resource that has the claim with this id. */
  const withLease = (id: ResourceLeaseId): ResourceRef => {
    for (const [ref, { state }] of kept) {
      if (state.leases.some((lease) => lease.id === id)) return ref;
    }
    throw new Fault("notFound", `Cannot find claim "${id}": see "remit resources list"`);
  };
  const seen = (state: SharedResource): SharedResource =>
    dueChanges(state, powers.now()).reduce(foldResource, state);

  const ownerEnded: Resources["ownerEnded"] = async (task, child) => {
    const isOver = (each: TaskId): boolean => each === task || parts.isOver(each);
    // A person may read a list after its task ends: drop completed items only if there are many resources.
    const goes = child === undefined && kept.size > (parts.keeps ?? 256);
    for (const [ref, { state }] of [...kept]) {
      if (!takesPart(state, task)) continue;
      await change(ref, task, (now) => {
        const freed = endedOwner(now, { task, child, now: powers.now() });
        const done = goes ? itemsOver(freed.reduce(foldResource, now), isOver) : [];
        return { changes: [...freed, ...done], answer: undefined };
      });
    }
  };

  const recover = async (): Promise<void> => {
    const tasks = [...kept.values()].flatMap(({ state: { leases, items } }) => [
      ...leases.map(({ owner }) => owner.task),
      ...items.map(({ author }) => author.task),
    ]);
    for (const task of new Set(tasks)) {
      if (parts.isOver(task)) await ownerEnded(task);
    }
    for (const { id, resource, owner } of orphans) {
      await change(resource, owner.task, ({ leases }) => ({
        changes: leases.some((each) => each.id === id)
          ? [{ what: "ended", lease: id, reason: "ownerEnded", at: powers.now() }]
          : [],
        answer: undefined,
      }));
    }
    await sweep();
    // The notice may have been lost; a repeated one has the same id, so the inbox stores it once.
    for (const { state } of kept.values()) {
      for (const report of state.conflicts) {
        if (report.state === "open") parts.onChange?.({ what: "conflict", report }, state);
      }
    }
    arm();
  };

  return Object.freeze<Resources>({
    claim: (request, by) =>
      change<ClaimOutcome>(request.resource, by.owner.task, (now) => {
        const { changes, lease, renewed = false, report } = claimed(now, request, by, at(by));
        if (lease !== undefined) return { changes, answer: { kind: "held", lease, renewed } };
        if (report === undefined) throw new TypeError("a claim is held, or in conflict");
        return { changes, answer: { kind: "conflict", report } };
      }),
    async release(id, by, standing = false) {
      const ref = withLease(id);
      return await change(ref, by.task, (now) => {
        const lease = leaseIn(now, id);
        if (lease.standing === true && !standing) {
          throw new Fault(
            "refused",
            `Cannot release claim "${id}": whoever assigned the task holds it until its work is taken or given up`,
          );
        }
        if (sameOwner(lease.owner, by)) return ending(lease, "done", powers.now());
        // A task's first process may release its children's claims.
        if (lease.owner.task === by.task && by.child === undefined) {
          return ending(lease, "supervisor", powers.now());
        }
        throw new Fault("refused", `Cannot release claim "${id}": it is another's`);
      });
    },
    async end(id, reason) {
      const ref = withLease(id);
      const owner = kept.get(ref)?.state.leases.find((lease) => lease.id === id)?.owner;
      const plan = (now: SharedResource) => ending(leaseIn(now, id), reason, powers.now());
      return await change(ref, owner?.task, plan);
    },
    async clear(ref) {
      if (!kept.has(ref)) {
        throw new Fault("notFound", `Cannot clear "${ref}": nothing is kept of it`);
      }
      await change(ref, undefined, ({ leases }) => ({
        changes: [
          ...leases.map(({ id }) => ({
            ...{ what: "ended" as const, lease: id, reason: "operator" as const },
            at: powers.now(),
          })),
          { what: "cleared", approver: "host" },
        ],
        answer: undefined,
      }));
    },
    async decide(id, decision, by) {
      const found = [...kept].find(([, { state }]) =>
        state.conflicts.some((each) => each.id === id)
      );
      if (found === undefined) {
        throw new Fault(
          "notFound",
          `Cannot find conflict "${id}": list them with "remit resources"`,
        );
      }
      const [ref] = found;
      return await change(ref, by === "host" ? undefined : by, (now) => {
        const report = now.conflicts.find((each) => each.id === id);
        if (report === undefined) throw new Fault("notFound", `Cannot find conflict "${id}"`);
        const phase = now.leases.find((lease) => lease.id === report.lease)?.phase ?? "work";
        const changes = decided(now, report, decision, { by, now: powers.now(), ids, phase });
        const after = changes.reduce(foldResource, now);
        return { changes, answer: after.conflicts.find((each) => each.id === id) ?? report };
      });
    },
    watch: ({ resource, ...watch }, { owner: { task }, colour, label }) =>
      change(resource, task, (now) => {
        const others = now.watches.filter((each) =>
          each.task !== task || each.scope !== watch.scope
        );
        if (others.length >= RESOURCE_LIMITS.watches) throw full("watches");
        const made = { ...watch, task, colour, label, since: powers.now() };
        return { changes: [{ what: "watched", watch: made }], answer: undefined };
      }),
    write: ({ resource, ...wanted }, by) =>
      change<WriteOutcome>(resource, by.owner.task, (now) => {
        const { changes, report } = written(now, wanted, by, at(by));
        return report === undefined
          ? { changes, answer: { kind: "written", version: wanted.version } }
          : { changes, answer: { kind: "conflict", report } };
      }),
    async report({ resource, ...found }, by, how): Promise<ConflictReport> {
      const kept = await change(resource, by.owner.task, (now) => {
        const supervisor = by.supervisor ??
          (found.holder?.task === by.owner.task ? by.owner.task : "host");
        const { changes, report } = conflicting(
          now,
          {
            ...{ ...found, mode: "exclusive", supervisor },
            ...{ colour: by.colour, label: by.label },
          },
          by,
          at(by),
        );
        return { changes, answer: report };
      });
      if (how?.told !== true) parts.onFinding?.(kept);
      return kept;
    },
    get(ref) {
      const found = kept.get(ref);
      return Promise.resolve(found && seen(found.state));
    },
    list() {
      const all = [...kept.values()].map(({ state }) => seen(state));
      const full = all.filter((each) => !isEmpty(each));
      return Promise.resolve(full.sort((a, b) => (a.ref < b.ref ? -1 : 1)));
    },
    addItem: (resource, text, by) =>
      change(resource, by.owner.task, (now) => {
        const { item, added } = itemAdded(now, text, by, powers.now());
        return { changes: added ? [{ what: "item", item }] : [], answer: item };
      }),
    claimItem: (wanted, by) =>
      change(wanted.resource, by.owner.task, (now) => itemClaimed(now, wanted, by, at(by))),
    finishItem: (wanted, by) =>
      change(wanted.resource, by.owner.task, (now) => itemDone(now, wanted, by, at(by))),
    ...{ recover, ownerEnded },
    async forget(task) {
      for (const [ref, { state }] of [...kept]) {
        // Purges are rare: search the complete document for the task's id.
        if (!JSON.stringify(state).includes(task)) continue;
        await change(ref, undefined, () => ({
          changes: [{ what: "forgotten", task }],
          answer: undefined,
        }));
      }
    },
    close(): void {
      closed = true;
      stopTimer?.();
    },
  });
}
