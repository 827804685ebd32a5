/**
 * Shared resources of tasks: who works on which part, until when, in which version, and how
 * conflicts are resolved. A claim coordinates and permits nothing: every change of the resource
 * itself needs its own capability. docs/shared_resources.md
 * @module
 */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { Millis, Pid, TaskId } from "../authority/ids.ts";
import { Phase } from "./task.ts";

/** The kinds of shared resources. */
export const ResourceKind = z.enum([
  "gitRepository",
  "taskList",
  "wikiTree",
  "browserProfile",
  "memoryStore",
  "packageCache",
  "externalAccount",
]);
export type ResourceKind = z.infer<typeof ResourceKind>;

/** A resource's name within its kind, also in the inbox sender `resource:NAME`. */
export const ResourceName = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/).brand<"ResourceName">();
export type ResourceName = z.infer<typeof ResourceName>;

/** Names a resource: `KIND:NAME`, such as `gitRepository:site`. */
export const ResourceRef = z.string().max(96).regex(
  new RegExp(`^(?:${ResourceKind.options.join("|")}):[a-z][a-z0-9_-]{0,63}$`),
).brand<"ResourceRef">();
export type ResourceRef = z.infer<typeof ResourceRef>;

/** Kind and name of a reference. */
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
 * A part of a resource: components separated by `/`, covering itself and everything beneath; empty
 * covers everything. Without `.`, `..` and empty components, so that equal places are equal texts.
 */
export const ResourceScope = z.string().max(1_024).refine(
  (path) => path === "" || path.split("/").every((part) => !["", ".", ".."].includes(part)),
  'is no path: use parts with "/" between them, without "." and ".."',
);
export type ResourceScope = z.infer<typeof ResourceScope>;

/** Whether two scopes overlap: one contains the other. */
export function overlaps(a: ResourceScope, b: ResourceScope): boolean {
  const within = (outer: string, inner: string): boolean =>
    outer === "" || outer === inner || inner.startsWith(`${outer}/`);
  return within(a, b) || within(b, a);
}

/** Names a claim: `r` and 12 characters. */
export const ResourceLeaseId = z.string().regex(/^r[0-9a-z]{12}$/).brand<"ResourceLeaseId">();
export type ResourceLeaseId = z.infer<typeof ResourceLeaseId>;

/** Names a conflict: `c` and 12 characters. */
export const ConflictId = z.string().regex(/^c[0-9a-z]{12}$/).brand<"ConflictId">();
export type ConflictId = z.infer<typeof ConflictId>;

/** `exclusive`: no other claim overlaps; `shared`: no other exclusive claim overlaps. */
export const ClaimMode = z.enum(["exclusive", "shared"]);
export type ClaimMode = z.infer<typeof ClaimMode>;

/** The owner of a claim. */
export const ResourceOwner = z.object({
  task: TaskId,
  /** Name of the agent, of remit.yaml or built in. */
  agent: z.string().max(64),
  /** A child process of the task; absent: its first process. Valid within one kernel only. */
  child: Pid.optional(),
}).strict();
export type ResourceOwner = z.infer<typeof ResourceOwner>;

/** Why a claim ended. `superseded`: its owner claimed a part that contains this one. */
export const ReleaseReason = z.enum([
  "done",
  "superseded",
  "expired",
  "ownerEnded",
  "supervisor",
  "operator",
]);
export type ReleaseReason = z.infer<typeof ReleaseReason>;

/** A claim on a part of a resource. Coordination, and never the right to write. */
export const ResourceLease = z.object({
  id: ResourceLeaseId,
  resource: ResourceRef,
  scope: ResourceScope,
  mode: ClaimMode,
  owner: ResourceOwner,
  /** The task's phase at the time of the claim. */
  phase: Phase,
  claimedAt: Millis,
  /** Extended by each renewal, up to `until`. */
  expiresAt: Millis,
  renewals: z.int().min(0),
  /** Renewals end here at the latest. */
  until: Millis,
  /** Held by a program of the operator: it ends by time and not with its task. */
  standing: z.literal(true).optional(),
  /** Colour of the claimant, because the scope is the claimant's text. */
  colour: Colour,
  label: Label,
  endedAt: Millis.optional(),
  reason: ReleaseReason.optional(),
}).strict();
export type ResourceLease = z.infer<typeof ResourceLease>;

/** A version of a resource, as its kind identifies versions. */
export const ResourceVersion = z.object({
  kind: z.enum(["revision", "generation", "branchHead", "pageHash", "token"]),
  value: z.string().min(1).max(256).regex(/^[\x21-\x7e]+$/),
}).strict();
export type ResourceVersion = z.infer<typeof ResourceVersion>;

/** A task that is notified of changes of a resource. */
export const ResourceWatch = z.object({
  task: TaskId,
  scope: ResourceScope,
  since: Millis,
  /** Notify only once, when the first claim there ends. */
  once: z.boolean(),
  colour: Colour,
  label: Label,
}).strict();
export type ResourceWatch = z.infer<typeof ResourceWatch>;

/** Who decides a conflict: a task above both, else the person. */
export const Supervisor = z.union([z.literal("host"), TaskId]);
export type Supervisor = z.infer<typeof Supervisor>;

/** A supervisor's decision. `share`: both may continue; `release`: the holder gives way; `refuse`: the claimant does. */
export const ConflictDecision = z.enum(["share", "release", "refuse"]);
export type ConflictDecision = z.infer<typeof ConflictDecision>;

/** Two tasks touched the same part of a resource. */
export const ConflictReport = z.object({
  id: ConflictId,
  resource: ResourceRef,
  /** The part that both affect. */
  scope: ResourceScope,
  /** `claim`: another task holds a claim; `version`: the part changed since it was read. */
  about: z.enum(["claim", "version"]),
  /** The first owner; absent if only the version is known. */
  holder: ResourceOwner.optional(),
  /** The holder's claim. */
  lease: ResourceLeaseId.optional(),
  claimant: ResourceOwner,
  /** The mode that the claimant requested. */
  mode: ClaimMode,
  /** The version that the claimant had read, and the current version. */
  observed: ResourceVersion.optional(),
  current: ResourceVersion.optional(),
  at: Millis,
  supervisor: Supervisor,
  state: z.enum(["open", "decided", "over"]),
  decision: ConflictDecision.optional(),
  /** Who decided: `host` or the supervising task. */
  approver: z.string().max(96).optional(),
  /** Colour and label of both tasks together. */
  colour: Colour,
  label: Label,
  /** Colour and label of the claimant alone: the claimant's notice contains no text of the holder. */
  own: z.object({ colour: Colour, label: Label }).strict(),
}).strict();
export type ConflictReport = z.infer<typeof ConflictReport>;

/** State of an item in a task list. */
export const ItemState = z.enum(["open", "claimed", "done"]);
export type ItemState = z.infer<typeof ItemState>;

/** An item of a task list. To a reader, its text is another task's. */
export const ListItem = z.object({
  number: z.int().min(1),
  text: z.string().min(1).max(2_000),
  state: ItemState,
  /** Incremented with each change; a writer names the generation that it has read. */
  generation: z.int().min(1),
  author: ResourceOwner,
  /** Who works on the item, or completed it. */
  owner: ResourceOwner.optional(),
  lease: ResourceLeaseId.optional(),
  colour: Colour,
  label: Label,
  changedAt: Millis,
}).strict();
export type ListItem = z.infer<typeof ListItem>;

/** The stored state of a resource. All texts in it come from its users. */
export const SharedResource = z.object({
  ref: ResourceRef,
  createdAt: Millis,
  /** Incremented with each change of this record. */
  generation: z.int().min(1),
  leases: z.array(ResourceLease).max(256),
  /** Open conflicts and the latest decided ones. */
  conflicts: z.array(ConflictReport).max(64),
  watches: z.array(ResourceWatch).max(64),
  /** The version written last, one for each scope. */
  versions: z.array(z.object({ scope: ResourceScope, version: ResourceVersion }).strict()).max(512),
  /** Items of a task list. */
  items: z.array(ListItem).max(256),
}).strict();
export type SharedResource = z.infer<typeof SharedResource>;

/** Maximum numbers. */
export const RESOURCE_LIMITS = Object.freeze({
  /** Simultaneous claims of one task, and on one resource. */
  leasesOfTask: 64,
  leases: 256,
  openConflicts: 32,
  conflicts: 64,
  watches: 64,
  versions: 512,
  items: 256,
  /** Non-empty resources: in all, and with one task taking part. */
  resources: 1_024,
  resourcesOfTask: 64,
  /** Duration of a claim in milliseconds: default, maximum, and maximum with all renewals. */
  usualMs: 900_000,
  leaseMs: 3_600_000,
  heldMs: 86_400_000,
});

/** One change of a resource: the content of a `resource` event; the state is the fold of these. */
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
  /** Removes a completed item whose owner has ended. */
  z.object({ what: z.literal("dropped"), item: ListItem.shape.number }).strict(),
  z.object({ what: z.literal("forgotten"), task: TaskId }).strict(),
  z.object({ what: z.literal("cleared"), approver: z.string().max(96) }).strict(),
]);
export type ResourceChange = z.infer<typeof ResourceChange>;

/** The claimant as the kernel knows it; never taken from a model's arguments. */
export interface Claimant {
  readonly owner: ResourceOwner;
  readonly phase: Phase;
  readonly colour: Colour;
  readonly label: Label;
  /** Who decides conflicts; absent: the task itself between its own processes, else the person. */
  readonly supervisor?: Supervisor;
}

/** A requested claim. */
export interface ClaimRequest {
  readonly resource: ResourceRef;
  readonly scope: ResourceScope;
  readonly mode: ClaimMode;
  /** End of the claim, milliseconds since 1970; absent: 15 minutes from now. */
  readonly until?: number;
  /** See {@link ResourceLease}. */
  readonly standing?: boolean;
}

/** The result of a claim. */
export type ClaimOutcome =
  | { readonly kind: "held"; readonly lease: ResourceLease; readonly renewed: boolean }
  | { readonly kind: "conflict"; readonly report: ConflictReport };

/** The result of a versioned write. */
export type WriteOutcome =
  | { readonly kind: "written"; readonly version: ResourceVersion }
  | { readonly kind: "conflict"; readonly report: ConflictReport };

/**
 * The shared resources of one kernel. Every change commits an event and the resulting state
 * together. Changing methods reject `tooLarge` past {@link RESOURCE_LIMITS}, and `conflict` if
 * another kernel keeps writing first.
 */
export interface SharedResources {
  /** Claims a part; an equal claim by the same owner is a renewal. */
  claim(request: ClaimRequest, by: Claimant): Promise<ClaimOutcome>;
  /**
   * Releases a claim. Rejects `notFound`, and `refused` if the claim is another task's or is a
   * standing claim and `standing` is not set.
   */
  release(lease: ResourceLeaseId, by: ResourceOwner, standing?: boolean): Promise<ResourceLease>;
  /** Ends a claim on behalf of the person or the kernel. Rejects `notFound`. */
  end(lease: ResourceLeaseId, reason: ReleaseReason): Promise<ResourceLease>;
  /** Clears a resource on behalf of the person: ends claims, removes items and versions. Rejects `notFound`. */
  clear(resource: ResourceRef): Promise<void>;
  /** Decides a conflict. Rejects `notFound`, `conflict` (already decided), `refused` (`by` is not the supervisor). */
  decide(
    conflict: ConflictId,
    decision: ConflictDecision,
    by: Supervisor,
  ): Promise<ConflictReport>;
  /** Notifies the claimant's task of changes of that part, until the task ends. */
  watch(
    watch: Pick<ResourceWatch, "scope" | "once"> & { readonly resource: ResourceRef },
    by: Claimant,
  ): Promise<void>;
  /** Compare and swap: `observed` is the version that the writer had read, absent if none existed. */
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
   * Records a conflict that another component found, such as a merge queue or a wiki. Notifies the
   * claimant's task unless `told`: the answer to its own call already says so.
   */
  report(
    found: Pick<ConflictReport, "resource" | "scope" | "about" | "holder" | "observed" | "current">,
    by: Claimant,
    how?: { readonly told: boolean },
  ): Promise<ConflictReport>;
  /** The current state of a resource, without expired claims. */
  get(resource: ResourceRef): Promise<SharedResource | undefined>;
  /** Non-empty resources, ordered by name. */
  list(): Promise<readonly SharedResource[]>;
}
