/**
 * Decides claims, supervisors' decisions and versioned writes: returns changes of a resource
 * without expired claims, or a conflict report. Pure: time and ids are passed in. Used by
 * registry.ts and task_list.ts.
 * @module
 */
import { mixTaints } from "../../contracts/authority/colour.ts";
import { Fault } from "../../contracts/base/fault.ts";
import {
  type Claimant,
  type ClaimRequest,
  type ConflictDecision,
  type ConflictId,
  type ConflictReport,
  overlaps,
  type ReleaseReason,
  RESOURCE_LIMITS,
  type ResourceChange,
  type ResourceLease,
  type ResourceLeaseId,
  type ResourceOwner,
  type ResourceScope,
  type ResourceVersion,
  type SharedResource,
  type Supervisor,
} from "../../contracts/task/resources.ts";
import { sameOwner } from "./fold.ts";

/** The result of a claim. `changes` is empty if the same conflict is already recorded. */
export interface Claimed {
  readonly changes: readonly ResourceChange[];
  readonly lease?: ResourceLease;
  readonly renewed?: boolean;
  readonly report?: ConflictReport;
}

/** Generators of new ids. */
export interface NewIds {
  lease(): ResourceLeaseId;
  conflict(): ConflictId;
}

/**
 * Decides a claim on a resource without expired claims.
 * @throws Fault `invalidArguments` (a time that is past), `tooLarge`
 */
export function claimed(
  resource: SharedResource,
  request: ClaimRequest,
  by: Claimant,
  at: { readonly now: number; readonly ids: NewIds; readonly leasesOfTask: number },
): Claimed {
  const { scope, mode } = request, { owner } = by;
  const own = resource.leases.find((each) =>
    sameOwner(each.owner, owner) && each.scope === scope && each.mode === mode &&
    each.standing === request.standing
  );
  const most = Math.min(at.now + RESOURCE_LIMITS.leaseMs, own?.until ?? Infinity);
  const expiresAt = Math.min(request.until ?? at.now + RESOURCE_LIMITS.usualMs, most);
  if (expiresAt <= at.now) {
    throw new Fault(
      own === undefined ? "invalidArguments" : "tooLarge",
      own === undefined
        ? "Cannot claim it: the claim would be over already; name a time that is to come"
        : "Cannot renew the claim: it was held for a day, the most; release it",
    );
  }
  if (own !== undefined) {
    const lease = { ...own, expiresAt, renewals: own.renewals + 1 };
    return { changes: [{ what: "renewed", lease: own.id, expiresAt }], lease, renewed: true };
  }
  const others = resource.leases.filter((each) =>
    !sameOwner(each.owner, owner) && overlaps(each.scope, scope)
  );
  const first = others.find((each) => mode === "exclusive" || each.mode === "exclusive");
  if (first !== undefined) {
    return conflicting(
      resource,
      {
        ...{ scope, mode, holder: first.owner, lease: first.id, about: "claim" },
        supervisor: supervisorOf(by, first.owner),
        ...mixTaints(by, first),
      },
      by,
      at,
    );
  }
  if (at.leasesOfTask >= RESOURCE_LIMITS.leasesOfTask) {
    throw new Fault(
      "tooLarge",
      `Cannot claim it: a task has ${RESOURCE_LIMITS.leasesOfTask} claims at most; release some`,
    );
  }
  if (resource.leases.length >= RESOURCE_LIMITS.leases) throw full("claims");
  const lease: ResourceLease = {
    ...{ id: at.ids.lease(), resource: resource.ref, scope, mode, owner, phase: by.phase },
    ...{ claimedAt: at.now, expiresAt, renewals: 0, until: at.now + RESOURCE_LIMITS.heldMs },
    ...{ colour: by.colour, label: by.label },
    ...(request.standing === true ? { standing: true as const } : {}),
  };
  // A wider claim supersedes the owner's claims beneath it; only a standing claim supersedes a standing one.
  const beneath = resource.leases.filter((each) =>
    sameOwner(each.owner, owner) && each.mode === mode &&
    (each.standing !== true || request.standing === true) && overlaps(each.scope, scope) &&
    each.scope.length >= scope.length
  );
  return {
    changes: [
      ...beneath.map(({ id }) => ({
        ...{ what: "ended" as const, lease: id, reason: "superseded" as const, at: at.now },
      })),
      { what: "claimed", lease },
    ],
    lease,
    renewed: false,
  };
}

/** A task decides between its own processes; between two tasks the person does, unless the claimant names a supervisor. */
function supervisorOf(by: Claimant, holder: ResourceOwner): Supervisor {
  return by.supervisor ?? (by.owner.task === holder.task ? by.owner.task : "host");
}

/**
 * Reports a conflict, or returns the open report about the same one. A version conflict needs no
 * decision: the late writer reads again.
 */
export function conflicting(
  resource: SharedResource,
  found: Omit<ConflictReport, "id" | "resource" | "at" | "state" | "claimant" | "own">,
  by: Claimant,
  at: { readonly now: number; readonly ids: Pick<NewIds, "conflict"> },
): { readonly changes: readonly ResourceChange[]; readonly report: ConflictReport } {
  const { owner: claimant, colour, label } = by, { scope } = found;
  const open = resource.conflicts.filter(({ state }) => state === "open");
  const same = open.find((each) =>
    each.about === found.about && each.lease === found.lease && each.scope === found.scope &&
    sameOwner(each.claimant, claimant)
  );
  if (same !== undefined) return { changes: [], report: same };
  if (open.length >= RESOURCE_LIMITS.openConflicts) throw full("open conflicts");
  const report: ConflictReport = {
    ...found,
    ...{ id: at.ids.conflict(), resource: resource.ref, at: at.now, claimant },
    own: { colour, label },
    state: found.about === "claim" ? "open" : "over",
  };
  // The waiting claimant is notified when the claim ends. Child processes have no inbox.
  const waits = report.state === "open" && claimant.child === undefined &&
    resource.watches.length < RESOURCE_LIMITS.watches;
  const watch = { task: claimant.task, scope, since: at.now, once: true, colour, label };
  return {
    changes: [
      { what: "conflict", report },
      ...(waits ? [{ what: "watched" as const, watch }] : []),
    ],
    report,
  };
}

/**
 * The changes of a supervisor's decision on an open conflict.
 * @throws Fault `conflict` for a closed conflict, `refused` for anyone but the supervisor
 */
export function decided(
  resource: SharedResource,
  report: ConflictReport,
  decision: ConflictDecision,
  at: {
    readonly by: Supervisor;
    readonly now: number;
    readonly ids: NewIds;
    readonly phase: ResourceLease["phase"];
  },
): readonly ResourceChange[] {
  if (report.state !== "open") {
    throw new Fault("conflict", `Cannot decide conflict ${report.id}: it is ${report.state}`);
  }
  if (at.by !== "host" && at.by !== report.supervisor) {
    throw new Fault(
      "refused",
      `Cannot decide conflict ${report.id}: ${
        report.supervisor === "host" ? "the person decides" : `task ${report.supervisor} decides`
      }`,
    );
  }
  const held = resource.leases.find(({ id }) => id === report.lease);
  const approver = at.by === "host" ? "host" : `task:${at.by}`;
  const word: ResourceChange = { what: "decided", conflict: report.id, decision, approver };
  if (decision === "refuse" || held === undefined) return [word];
  if (decision === "release") {
    // A task that yields to its own child gives up its own claim.
    const own = held.owner.task === at.by && held.owner.child === undefined;
    const reason = at.by === "host" ? "operator" : own ? "done" : "supervisor";
    return [word, { what: "ended", lease: held.id, reason, at: at.now }];
  }
  const third = resource.leases.find((each) =>
    each.id !== held.id && each.mode === "exclusive" && overlaps(each.scope, report.scope) &&
    !sameOwner(each.owner, report.claimant)
  );
  if (third !== undefined) {
    throw new Fault(
      "conflict",
      `Cannot share it: claim ${third.id} overlaps, too; end that one first`,
    );
  }
  const lease: ResourceLease = {
    ...{ id: at.ids.lease(), resource: resource.ref, scope: report.scope, mode: "shared" },
    ...{ owner: report.claimant, phase: at.phase, claimedAt: at.now, renewals: 0 },
    ...{ expiresAt: at.now + RESOURCE_LIMITS.usualMs, until: at.now + RESOURCE_LIMITS.heldMs },
    ...{ colour: report.colour, label: report.label },
  };
  return [word, { what: "shared", lease: held.id }, { what: "claimed", lease }];
}

/** A write that names the version its writer had read; allowed if that is the current version. */
export function written(
  resource: SharedResource,
  change: {
    readonly scope: ResourceScope;
    readonly observed?: ResourceVersion;
    readonly version: ResourceVersion;
  },
  by: Claimant,
  at: { readonly now: number; readonly ids: NewIds },
): { readonly changes: readonly ResourceChange[]; readonly report?: ConflictReport } {
  const { scope, observed, version } = change;
  const current = resource.versions.find((each) => each.scope === scope)?.version;
  if (current?.kind === observed?.kind && current?.value === observed?.value) {
    const added = current === undefined ? 1 : 0;
    if (resource.versions.length + added > RESOURCE_LIMITS.versions) throw full("versions");
    const seen = observed === undefined ? {} : { observed };
    return { changes: [{ what: "written", scope, ...seen, version }] };
  }
  const holder = resource.leases.find((each) =>
    !sameOwner(each.owner, by.owner) && overlaps(each.scope, scope)
  );
  return conflicting(
    resource,
    {
      ...{ scope, mode: "exclusive", about: "version" },
      ...(holder === undefined ? {} : { holder: holder.owner, lease: holder.id }),
      ...(observed === undefined ? {} : { observed }),
      ...(current === undefined ? {} : { current }),
      supervisor: holder === undefined ? by.supervisor ?? "host" : supervisorOf(by, holder.owner),
      ...{ colour: by.colour, label: by.label },
    },
    by,
    at,
  );
}

/**
 * The changes at the end of a task or one child process: its claims end, except standing ones, and
 * its conflicts close.
 */
export function endedOwner(
  { leases, conflicts, watches }: SharedResource,
  { task, child, now }: {
    readonly task: ResourceOwner["task"];
    readonly child: number | undefined;
    readonly now: number;
  },
): readonly ResourceChange[] {
  const over = (owner: ResourceOwner): boolean =>
    owner.task === task && (child === undefined || owner.child === child);
  return [
    ...leases.filter(({ owner, standing }) => standing !== true && over(owner)).map(({ id }) => ({
      ...{ what: "ended" as const, lease: id, reason: "ownerEnded" as const, at: now },
    })),
    ...conflicts.filter(({ state, claimant }) => state === "open" && over(claimant)).map(
      ({ id }) => ({ what: "over" as const, conflict: id }),
    ),
    ...watches.filter((watch) => child === undefined && watch.task === task).map(({ scope }) => ({
      ...{ what: "unwatched" as const, task, scope },
    })),
  ];
}

/** The change that ends a claim, and the ended claim. `now`: milliseconds since 1970. */
export function ending(
  lease: ResourceLease,
  reason: ReleaseReason,
  now: number,
): { readonly changes: readonly ResourceChange[]; readonly answer: ResourceLease } {
  return {
    changes: [{ what: "ended", lease: lease.id, reason, at: now }],
    answer: { ...lease, endedAt: now, reason },
  };
}

/** The claim with this id. @throws Fault `notFound` */
export function leaseIn({ leases }: SharedResource, id: ResourceLeaseId): ResourceLease {
  const found = leases.find((lease) => lease.id === id);
  if (found !== undefined) return found;
  throw new Fault("notFound", `Cannot find claim "${id}": it is over`);
}

/** The fault `tooLarge` for too many of something. */
export function full(what: string): Fault {
  return new Fault(
    "tooLarge",
    `Cannot change the resource: it has too many ${what}; a person sees them with "remit resources"`,
  );
}
