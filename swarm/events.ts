/** What happens in a swarm, as it is written down: one event, one line. @module */
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
  /** What a stage settled, as JSON text: it passed its gate. */
  z.object({ kind: z.literal("settled"), document: z.string().max(40_000) }).strict(),
  z.object({ kind: z.literal("approved"), review: SwarmReview }).strict(),
  z.object({ kind: z.literal("rejected"), review: SwarmReview }).strict(),
  /** Nothing that counts came of it. */
  z.object({
    kind: z.literal("nothing"),
    reason: z.enum(["empty", "failed", "timedOut", "cancelled", "misfit", "refused", "budget"]),
    why,
    said: why,
    /** Files that it had staged by then. */
    left: paths.optional(),
  }).strict(),
]);
/** See {@link Outcome}. */
export type Outcome = z.infer<typeof Outcome>;

/** Everything that is written down. */
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
    /** Of work on a stage: which. */
    stage: z.enum(STAGES).optional(),
    role: z.string().max(64),
    /** As the plan or the command names it; "" for the run's own. */
    model: z.string().max(1_024),
    provider: z.string().max(64),
    /** The commit that it works on. */
    from: oid,
    /** The kernel makes one task of this session, however often it is asked. */
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
    /** Of what the task had read; journals of before have none. */
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
    /** Merged issues, with the tasks that made them, that changed these paths. */
    others: z.array(z.object({ issue, task: z.string().max(32) }).strict()).max(500),
  }).strict(),
  /** Somebody else has a part that the issue declares: the person decides. */
  z.object({
    ...{ kind: z.literal("contested"), at: z.int(), issue, attempt },
    conflict: z.string().max(16),
    scope: z.string().max(1_024),
    /** Whose it is: a task. */
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
/** See {@link SwarmEvent}. */
export type SwarmEvent = z.infer<typeof SwarmEvent>;
