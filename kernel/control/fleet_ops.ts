/** The requests of a command line to a fleet, parsed once at the crossing. @module */
import * as z from "zod";
import { Profile, TaskRequest, TaskStatus } from "../../contracts/task/task.ts";

/** A kernel's name. */
const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,47}$/);

/** Body of the operation `fleet`. */
export const FleetBody = z.discriminatedUnion("kind", [
  /** All kernels. */
  z.object({ kind: z.literal("list") }).strict(),
  /** Tasks of all kernels in these states. */
  z.object({ kind: z.literal("tasks"), states: z.array(TaskStatus).min(1).max(16) }).strict(),
  /** Open questions of all kernels. */
  z.object({ kind: z.literal("questions") }).strict(),
  /** Checks every kernel's log. */
  z.object({ kind: z.literal("verify") }).strict(),
  /** Creates a database role for a kernel; answers its address. */
  z.object({ kind: z.literal("enroll"), name }).strict(),
  z.object({ kind: z.literal("state"), name, state: z.enum(["up", "cordoned", "draining"]) })
    .strict(),
  /** Work for any kernel that has its mounts. */
  z.object({ kind: z.literal("run"), request: TaskRequest }).strict(),
]);

/** See {@link FleetBody}. */
export type FleetBody = z.infer<typeof FleetBody>;

/** Operations over all kernels that a gateway offers. */
export const VIEW_OPS = [
  ...["tasks", "task", "ps", "questions", "question", "answer", "staged", "log"] as const,
  ...["costs", "budgets", "head", "auditVerify", "fleet"] as const,
] as const;

/** Body of the operation `view`: one of {@link VIEW_OPS}, and the name of the requesting token. */
export const ViewBody = z.object({
  op: z.enum(VIEW_OPS),
  body: z.json(),
  by: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/),
  /** The highest profile of tasks that the token starts. */
  profile: Profile,
}).strict();

/** See {@link ViewBody}. */
export type ViewBody = z.infer<typeof ViewBody>;
