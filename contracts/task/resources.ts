/**
 * Shared resources of tasks: who works on which part of one, until when, in which version, and what came of two who
 * wanted the same. A claim coordinates and permits nothing: every change of the thing itself needs its own capability.
 * docs/shared_resources.md
 * @module
 */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { Millis, Pid, TaskId } from "../authority/ids.ts";
import { Phase } from "./task.ts";

/** What can be shared. */
export const ResourceKind = z.enum([
  "gitRepository",
  "taskList",
  "wikiTree",
  "browserProfile",
  "memoryStore",
  "packageCache",
  "externalAccount",
]);
/** See {@link ResourceKind}. */
export type ResourceKind = z.infer<typeof ResourceKind>;

/** A resource's own name within its kind, and the name of the sender `resource:NAME` in inboxes. */
export const ResourceName = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/).brand<"ResourceName">();
/** See {@link ResourceName}. */
export type ResourceName = z.infer<typeof ResourceName>;

/** Names a resource in one text: `KIND:NAME`, as `gitRepository:site`. */
export const ResourceRef = z.string().max(96).regex(
  new RegExp(`^(?:${ResourceKind.options.join("|")}):[a-z][a-z0-9_-]{0,63}$`),
).brand<"ResourceRef">();
/** See {@link ResourceRef}. */
export type ResourceRef = z.infer<typeof ResourceRef>;

/** The two parts of a reference. */
export function partsOfResource(
  ref: ResourceRef,
): { readonly kind: ResourceKind; readonly name: ResourceName } {
  const at = ref.indexOf(":");
  return {
    kind: ResourceKind.parse(ref.slice(0, at)),
    name: ResourceName.parse(ref.slice(at + 1)),
  };
}

/**
 * A part of a resource: parts with `/` between them, which cover themselves and everything beneath; empty covers all.
 * No part is `.`, `..` or empty, so that two names of one place are the same text.
 */
export const ResourceScope = z.string().max(1_024).refine(
  (path) => path === "" || path.split("/").every((part) => !["", ".", ".."].includes(part)),
  'is no path: use parts with "/" between them, without "." and ".."',
);
/** See {@link ResourceScope}. */
export type ResourceScope = z.infer<typeof ResourceScope>;

/** Tells whether two scopes have a place in common: one lies beneath the other. */
export function overlaps(a: ResourceScope, b: ResourceScope): boolean {
  const within = (outer: string, inner: string): boolean =>
    outer === "" || outer === inner || inner.startsWith(`${outer}/`);
  return within(a, b) || within(b, a);
}

/** Names a claim: `r` and 12 characters. */
export const ResourceLeaseId = z.string().regex(/^r[0-9a-z]{12}$/).brand<"ResourceLeaseId">();
/** See {@link ResourceLeaseId}. */
export type ResourceLeaseId = z.infer<typeof ResourceLeaseId>;

/** Names a conflict: `c` and 12 characters. */
export const ConflictId = z.string().regex(/^c[0-9a-z]{12}$/).brand<"ConflictId">();
/** See {@link ConflictId}. */
export type ConflictId = z.infer<typeof ConflictId>;

/** `exclusive`: nobody else has a claim that overlaps; `shared`: nobody else has an exclusive one. */
export const ClaimMode = z.enum(["exclusive", "shared"]);
/** See {@link ClaimMode}. */
export type ClaimMode = z.infer<typeof ClaimMode>;

/** Whose claim it is. */
export const ResourceOwner = z.object({
  task: TaskId,
  /** The agent's name, as remit.yaml or the box has it. */
  agent: z.string().max(64),
  /** A child process of the task; absent: its first one. Numbers of children live as long as their kernel. */
  child: Pid.optional(),
}).strict();
/** See {@link ResourceOwner}. */
export type ResourceOwner = z.infer<typeof ResourceOwner>;

/** Why a claim is over. `superseded`: its owner claimed a part that holds this one. */
export const ReleaseReason = z.enum([
  "done",
  "superseded",
  "expired",
  "ownerEnded",
  "supervisor",
  "operator",
]);
/** See {@link ReleaseReason}. */
export type ReleaseReason = z.infer<typeof ReleaseReason>;

/** A claim on a part of a resource. Coordination, and never the right to write. */
export const ResourceLease = z.object({
  id: ResourceLeaseId,
  resource: ResourceRef,
  scope: ResourceScope,
  mode: ClaimMode,
  owner: ResourceOwner,
  /** The task's phase when it claimed. */
  phase: Phase,
  claimedAt: Millis,
  /** Extended by each renewal, up to `until`. */
  expiresAt: Millis,
  renewals: z.int().min(0),
  /** No renewal goes beyond. */
  until: Millis,
  /** A program of the operator holds it: the end of its task does not end it, its time does. */
  standing: z.literal(true).optional(),
  /** What whoever claimed had read: its scope is text of the claimant's. */
  colour: Colour,
  label: Label,
  endedAt: Millis.optional(),
  reason: ReleaseReason.optional(),
}).strict();
/** See {@link ResourceLease}. */
export type ResourceLease = z.infer<typeof ResourceLease>;

/** What of a thing tells one version of it from the next. */
export const ResourceVersion = z.object({
  kind: z.enum(["revision", "generation", "branchHead", "pageHash", "token"]),
  value: z.string().min(1).max(256).regex(/^[\x21-\x7e]+$/),
}).strict();
/** See {@link ResourceVersion}. */
export type ResourceVersion = z.infer<typeof ResourceVersion>;

/** A task that is told what becomes of a resource. */
export const ResourceWatch = z.object({
  task: TaskId,
  scope: ResourceScope,
  since: Millis,
  /** Told once, of the first end of a claim there, and then no more. */
  once: z.boolean(),
  colour: Colour,
  label: Label,
}).strict();
/** See {@link ResourceWatch}. */
export type ResourceWatch = z.infer<typeof ResourceWatch>;

/** Who decides about a conflict: a task that stands above both, else the person. */
export const Supervisor = z.union([z.literal("host"), TaskId]);
/** See {@link Supervisor}. */
export type Supervisor = z.infer<typeof Supervisor>;

/** What a supervisor says. `share`: both may; `release`: the first gives way; `refuse`: the second does. */
export const ConflictDecision = z.enum(["share", "release", "refuse"]);
/** See {@link ConflictDecision}. */
export type ConflictDecision = z.infer<typeof ConflictDecision>;

/** Two tasks touched the same part of a resource. */
export const ConflictReport = z.object({
  id: ConflictId,
  resource: ResourceRef,
  /** The part that both touched. */
  scope: ResourceScope,
  /** `claim`: it is claimed by another; `version`: it changed since it was read. */
  about: z.enum(["claim", "version"]),
  /** Whose it was first; absent where only the version is known. */
  holder: ResourceOwner.optional(),
  /** The holder's claim. */
  lease: ResourceLeaseId.optional(),
  claimant: ResourceOwner,
  /** What the claimant wanted. */
  mode: ClaimMode,
  /** What the claimant had read, and what stands there. */
  observed: ResourceVersion.optional(),
  current: ResourceVersion.optional(),
  at: Millis,
  supervisor: Supervisor,
  state: z.enum(["open", "decided", "over"]),
  decision: ConflictDecision.optional(),
  /** Who decided: `host`, or the task that stands above. */
  approver: z.string().max(96).optional(),
  /** Of both together. */
  colour: Colour,
  label: Label,
  /** Of the claimant alone: what the claimant is told has no words of the holder. */
  own: z.object({ colour: Colour, label: Label }).strict(),
}).strict();
/** See {@link ConflictReport}. */
export type ConflictReport = z.infer<typeof ConflictReport>;

/** How an item of a task list stands. */
export const ItemState = z.enum(["open", "claimed", "done"]);
/** See {@link ItemState}. */
export type ItemState = z.infer<typeof ItemState>;

/** An item of a task list. Its text is somebody else's to whoever reads it. */
export const ListItem = z.object({
  number: z.int().min(1),
  text: z.string().min(1).max(2_000),
  state: ItemState,
  /** Raised by one with each change; whoever changes the item names the one that they saw. */
  generation: z.int().min(1),
  author: ResourceOwner,
  /** Who works on it, or did it. */
  owner: ResourceOwner.optional(),
  lease: ResourceLeaseId.optional(),
  colour: Colour,
  label: Label,
  changedAt: Millis,
}).strict();
/** See {@link ListItem}. */
export type ListItem = z.infer<typeof ListItem>;

/** What of a resource is kept. Everything in it that is not a number of ours is text of its users. */
export const SharedResource = z.object({
  ref: ResourceRef,
  createdAt: Millis,
  /** Raised by one with each change of what is kept here. */
  generation: z.int().min(1),
  leases: z.array(ResourceLease).max(256),
  /** Open ones, and the last that were decided. */
  conflicts: z.array(ConflictReport).max(64),
  watches: z.array(ResourceWatch).max(64),
  /** The version that was written last, one for each scope. */
  versions: z.array(z.object({ scope: ResourceScope, version: ResourceVersion }).strict()).max(512),
  /** Of a task list. */
  items: z.array(ListItem).max(256),
}).strict();
/** See {@link SharedResource}. */
export type SharedResource = z.infer<typeof SharedResource>;

/** Most of each thing. */
export const RESOURCE_LIMITS = Object.freeze({
  /** Claims that live at once: of one task, and on one resource. */
  leasesOfTask: 64,
  leases: 256,
  openConflicts: 32,
  conflicts: 64,
  watches: 64,
  versions: 512,
  items: 256,
  /** Resources with something in them: all, and those in which one task takes part. */
  resources: 1_024,
  resourcesOfTask: 64,
  /** Milliseconds of a claim that says nothing, at most of one, and of one with all its renewals. */
  usualMs: 900_000,
  leaseMs: 3_600_000,
  heldMs: 86_400_000,
});

/** One change of a resource: what an event `resource` says, and what its state is the fold of. */
export const ResourceChange = z.discriminatedUnion("what", [
  z.object({ what: z.literal("claimed"), lease: ResourceLease }).strict(),
  z.object({ what: z.literal("renewed"), lease: ResourceLeaseId, expiresAt: Millis }).strict(),
  z.object({
    what: z.literal("ended"),
    lease: ResourceLeaseId,
    reason: ReleaseReason,
    at: Millis,
  }).strict(),
  z.object({ what: z.literal("shared"), lease: ResourceLeaseId }).strict(),
  z.object({ what: z.literal("conflict"), report: ConflictReport }).strict(),
  z.object({
    what: z.literal("decided"),
    conflict: ConflictId,
    decision: ConflictDecision,
    approver: z.string().max(96),
  }).strict(),
  z.object({ what: z.literal("over"), conflict: ConflictId }).strict(),
  z.object({ what: z.literal("watched"), watch: ResourceWatch }).strict(),
  z.object({ what: z.literal("unwatched"), task: TaskId, scope: ResourceScope }).strict(),
  z.object({
    what: z.literal("written"),
    scope: ResourceScope,
    observed: ResourceVersion.optional(),
    version: ResourceVersion,
  }).strict(),
  z.object({ what: z.literal("item"), item: ListItem }).strict(),
  /** It was done, and whoever it was of is over. */
  z.object({ what: z.literal("dropped"), item: ListItem.shape.number }).strict(),
  z.object({ what: z.literal("forgotten"), task: TaskId }).strict(),
  z.object({ what: z.literal("cleared"), approver: z.string().max(96) }).strict(),
]);
/** See {@link ResourceChange}. */
export type ResourceChange = z.infer<typeof ResourceChange>;

/** Who claims, as the kernel knows it: never taken from arguments of a model. */
export interface Claimant {
  readonly owner: ResourceOwner;
  readonly phase: Phase;
  readonly colour: Colour;
  readonly label: Label;
  /** Who decides where another has the same; absent: the task itself between its own processes, else the person. */
  readonly supervisor?: Supervisor;
}

/** What is claimed. */
export interface ClaimRequest {
  readonly resource: ResourceRef;
  readonly scope: ResourceScope;
  readonly mode: ClaimMode;
  /** Milliseconds since 1970 until which the claim holds; absent: 15 minutes from now. */
  readonly until?: number;
  /** See {@link ResourceLease}. */
  readonly standing?: boolean;
}

/** What came of a claim. */
export type ClaimOutcome =
  | { readonly kind: "held"; readonly lease: ResourceLease; readonly renewed: boolean }
  | { readonly kind: "conflict"; readonly report: ConflictReport };

/** What came of a change that names a version. */
export type WriteOutcome =
  | { readonly kind: "written"; readonly version: ResourceVersion }
  | { readonly kind: "conflict"; readonly report: ConflictReport };

/**
 * The shared resources of one kernel. Every change is an event and the state that it makes, in one commit. Methods that
 * change reject `tooLarge` past {@link RESOURCE_LIMITS} and `conflict` where another kernel is always faster.
 */
export interface SharedResources {
  /** The same claim of the same owner again is a renewal. */
  claim(request: ClaimRequest, by: Claimant): Promise<ClaimOutcome>;
  /**
   * Rejects `notFound`, and `refused` where the claim is another task's, or is held by whoever assigned the task:
   * `standing` says that it is they who release it.
   */
  release(lease: ResourceLeaseId, by: ResourceOwner, standing?: boolean): Promise<ResourceLease>;
  /** The person, or the kernel, ends a claim. Rejects `notFound`. */
  end(lease: ResourceLeaseId, reason: ReleaseReason): Promise<ResourceLease>;
  /** The person takes everything away that is kept of a resource: claims end, items and versions go. Rejects `notFound`. */
  clear(resource: ResourceRef): Promise<void>;
  /** Rejects `notFound`, `conflict` (decided already), `refused` (`by` is not the supervisor). */
  decide(
    conflict: ConflictId,
    decision: ConflictDecision,
    by: Supervisor,
  ): Promise<ConflictReport>;
  /** The claimant's task is told what becomes of that part, until it is over. */
  watch(
    watch: Pick<ResourceWatch, "scope" | "once"> & { readonly resource: ResourceRef },
    by: Claimant,
  ): Promise<void>;
  /** Compare and swap: `observed` is what the writer had read, absent where there was nothing. */
  write(
    change: {
      readonly resource: ResourceRef;
      readonly scope: ResourceScope;
      readonly observed?: ResourceVersion;
      readonly version: ResourceVersion;
    },
    by: Claimant,
  ): Promise<WriteOutcome>;
  /**
   * Keeps a conflict that somebody else found: a merge queue, a wiki. The claimant's task is told, unless `told`: the answer
   * to its own call said so.
   */
  report(
    found: Pick<ConflictReport, "resource" | "scope" | "about" | "holder" | "observed" | "current">,
    by: Claimant,
    how?: { readonly told: boolean },
  ): Promise<ConflictReport>;
  /** A resource as it stands now: what has expired is not in it. */
  get(resource: ResourceRef): Promise<SharedResource | undefined>;
  /** Those with something in them, in the order of their names. */
  list(): Promise<readonly SharedResource[]>;
}
