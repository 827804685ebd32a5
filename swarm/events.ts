/** The events of a swarm's journal, one per line. @module */
import * as z from "zod";
import { Colour, Label } from "../contracts/authority/mod.ts";
import { SwarmPlan } from "./plan.ts";
import { STAGES } from "./stages.ts";
import { SwarmReview } from "./words.ts";

const oid = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const issue = z.string().max(40);
const attempt = z.int().min(1).max(100_000);
const why = z.string().max(8_000);
const paths = z.array(z.string().max(4_096)).max(10_000);

/** How a task of a swarm ended. */
const Outcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("patch"), commit: oid, tree: oid, paths, said: why }).strict(),
  /** The document of a stage that passed its gate, JSON text. */
  z.object({ kind: z.literal("settled"), document: z.string().max(40_000) }).strict(),
  z.object({ kind: z.literal("approved"), review: SwarmReview }).strict(),
  z.object({ kind: z.literal("rejected"), review: SwarmReview }).strict(),
  /** No usable result. */
  z.object({
    kind: z.literal("nothing"),
    reason: z.enum(["empty", "failed", "timedOut", "cancelled", "misfit", "refused", "budget"]),
    why,
    said: why,
    /** Files that the task had staged. */
    left: paths.optional(),
  }).strict(),
]);
export type Outcome = z.infer<typeof Outcome>;

/** An event of the journal. */
export const SwarmEvent = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("begun"),
    id: z.string().max(16),
    at: z.int(),
    plan: SwarmPlan,
    base: oid,
    /** The person's folder, and its name as a mount. */
    folder: z.string().max(4_096),
    mount: z.string().max(32),
  }).strict(),
  z.object({
    kind: z.literal("assigned"),
    at: z.int(),
    attempt,
    issue,
    work: z.enum(["author", "review", "stage"]),
    /** For work on a stage: which one. */
    stage: z.enum(STAGES).optional(),
    role: z.string().max(64),
    /** The plan's or command's model; "" for the run's default. */
    model: z.string().max(1_024),
    provider: z.string().max(64),
    /** The commit to work on. */
    from: oid,
    /** Session id; the kernel creates only one task for it, even if asked repeatedly. */
    session: z.string().max(64),
  }).strict(),
  z.object({ kind: z.literal("started"), at: z.int(), attempt, task: z.string().max(32) }).strict(),
  z.object({
    kind: z.literal("ended"),
    at: z.int(),
    attempt,
    outcome: Outcome,
    /** US dollars. */
    money: z.number().min(0),
    /** Label of what the task had read; absent in old journals. */
    label: Label.optional(),
    colour: Colour.optional(),
  }).strict(),
  z.object({
    kind: z.literal("checked"),
    at: z.int(),
    issue,
    tree: oid,
    ok: z.boolean(),
    /** The last lines that the checks printed: untrusted. */
    said: why,
  }).strict(),
  z.object({ kind: z.literal("merging"), at: z.int(), issue, tip: oid, commit: oid, paths })
    .strict(),
  z.object({ kind: z.literal("merged"), at: z.int(), issue, commit: oid }).strict(),
  z.object({
    kind: z.literal("conflict"),
    at: z.int(),
    issue,
    paths,
    /** Merged issues that changed these paths, with their tasks. */
    others: z.array(z.object({ issue, task: z.string().max(32) }).strict()).max(500),
  }).strict(),
  /** Another task has claimed a part that the issue declares; the person decides. */
  z.object({
    ...{ kind: z.literal("contested"), at: z.int(), issue, attempt },
    conflict: z.string().max(16),
    scope: z.string().max(1_024),
    /** The task that holds the claim. */
    holder: z.string().max(32),
  }).strict(),
  z.object({
    kind: z.literal("closed"),
    at: z.int(),
    issue,
    status: z.enum(["failed", "conflicted", "cancelled"]),
    why,
  }).strict(),
  z.object({ kind: z.literal("offered"), at: z.int(), task: z.string().max(32), commit: oid })
    .strict(),
  z.object({
    kind: z.literal("finished"),
    at: z.int(),
    status: z.enum(["done", "partly", "failed", "stopped"]),
    why,
  }).strict(),
]);
export type SwarmEvent = z.infer<typeof SwarmEvent>;
