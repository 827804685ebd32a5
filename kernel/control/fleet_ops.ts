/** What a command line may ask of a fleet, parsed once at the crossing. @module */
import * as z from "zod";
import { Profile, TaskRequest, TaskStatus } from "../../contracts/task/task.ts";

/** A kernel's name. */
const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,47}$/);

/** Body of the operation `fleet`. */
export const FleetBody = z.discriminatedUnion("kind", [
  /** Every kernel. */
  z.object({ kind: z.literal("list") }).strict(),
  /** Tasks of every kernel that stand so. */
  z.object({ kind: z.literal("tasks"), states: z.array(TaskStatus).min(1).max(16) }).strict(),
  /** Open questions of every kernel. */
  z.object({ kind: z.literal("questions") }).strict(),
  /** Every kernel's log is checked. */
  z.object({ kind: z.literal("verify") }).strict(),
  /** A role of its own for a kernel; answers its address. */
  z.object({ kind: z.literal("enroll"), name }).strict(),
  z.object({ kind: z.literal("state"), name, state: z.enum(["up", "cordoned", "draining"]) })
    .strict(),
  /** Work for any kernel that has its mounts. */
  z.object({ kind: z.literal("run"), request: TaskRequest }).strict(),
]);
/** See {@link FleetBody}. */
export type FleetBody = z.infer<typeof FleetBody>;

/** What a person sees and does of all kernels, through a gateway. */
export const VIEW_OPS = [
  ...["tasks", "task", "ps", "questions", "question", "answer", "staged", "log"] as const,
  ...["costs", "budgets", "head", "auditVerify", "fleet"] as const,
] as const;

/** Body of the operation `view`: one of these operations over the whole fleet, and the name of the token that asked. */
export const ViewBody = z.object({
  op: z.enum(VIEW_OPS),
  body: z.json(),
  by: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/),
  /** Whose rules hold, at most, for what it starts. */
  profile: Profile,
}).strict();
/** See {@link ViewBody}. */
export type ViewBody = z.infer<typeof ViewBody>;
