/** The file of a swarm: issues, roles, checks, limits; read once, with limits. @module */
import { parse } from "yaml";
import * as z from "zod";
import { Fault } from "../contracts/base/mod.ts";
import { STAGES } from "./stages.ts";

const Id = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "is a-z, 0-9 and -, at most 40");
const Role = z.string().regex(
  /^[a-z][a-z0-9-]{0,63}$/,
  "is a-z, 0-9 and -, and begins with a letter",
);
const Path = z.string().min(1).max(512).refine(
  (path) =>
    path.split("/").every((part, at, all) =>
      part !== "." && part !== ".." && (part !== "" || (at > 0 && at === all.length - 1))
    ),
  "is a path within the repository, without . and ..",
);
const Ref = z.string().min(1).max(1_024);

/** One piece of work. */
export const SwarmIssue = z.object({
  id: Id,
  title: z.string().min(1).max(200),
  text: z.string().max(50_000).default(""),
  /** Absent: the plan's author role. */
  role: Role.optional(),
  /** Issues that must be merged first. */
  after: z.array(Id).max(64).default([]),
  /** Files and folders (ending in /) that it will change: no two that overlap are worked on at a time. */
  paths: z.array(Path).max(64).default([]),
}).strict();
/** See {@link SwarmIssue}. */
export type SwarmIssue = z.infer<typeof SwarmIssue>;

/** Who works or reviews. */
const SwarmRole = z.object({
  /** An agent of remit.yaml or of the box; absent: the one of the role's own name. */
  agent: Role.optional(),
  /** Models, the preferred one first; absent: the run's own. */
  models: z.array(Ref).min(1).max(8).optional(),
  persona: z.string().max(8_000).optional(),
}).strict();

const SwarmLimits = z.object({
  /** Tasks at a time. */
  workers: z.int().min(1).max(256).default(2),
  /** Workers that try one issue, one after the other; and tries at a review. */
  attempts: z.int().min(1).max(10).default(3),
  /** Tasks in all: a swarm that starts more has run away. */
  tasks: z.int().min(1).max(10_000).default(60),
  /** Minutes of one task. */
  taskMinutes: z.number().positive().max(1_440).default(20),
  /** Minutes of the whole. */
  minutes: z.number().positive().max(10_080).default(240),
  /** US dollars of one task, and of the whole. */
  taskMoney: z.number().min(0).max(10_000).default(1),
  money: z.number().min(0).max(100_000).default(10),
  /** Files that one change may touch, and bytes that it may bring. */
  changedFiles: z.int().min(1).max(10_000).default(200),
  changedBytes: z.int().min(1).max(64_000_000).default(1_000_000),
}).strict();

/** A check: a program of this machine, run in the repository's folder inside walls; 0 is good. */
const SwarmCheck = z.object({
  name: z.string().min(1).max(64),
  command: z.array(z.string().min(1).max(4_096)).min(1).max(64),
  seconds: z.int().min(1).max(3_600).default(120),
}).strict();

/** A whole swarm. */
export const SwarmPlan = z.object({
  version: z.literal(1),
  /** The repository's folder, relative to the file; `--mount NAME=DIR` stands in place of it. */
  repository: z.string().min(1).max(4_096).optional(),
  issues: z.array(SwarmIssue).min(1).max(500),
  roles: z.record(Role, SwarmRole).default({}),
  author: Role.default("coder"),
  reviewer: Role.default("reviewer"),
  /** Approvals that each change needs. */
  reviews: z.int().min(1).max(5).default(1),
  /** Rejections that send a change back: with 2 and 2 the best of three decides. */
  rejections: z.int().min(1).max(5).default(1),
  /** What is settled before the work on an issue, in this order; `planner` is the role that does it. */
  stages: z.array(z.enum(STAGES)).max(3).default([]),
  planner: Role.default("researcher"),
  /** A reviewer whose model is of the author's provider is refused. */
  otherProvider: z.boolean().default(false),
  checks: z.array(SwarmCheck).max(16).default([]),
  /** Files and folders of the checks: always those of the base, whatever a change brought. */
  keep: z.array(Path).max(64).default([]),
  limits: SwarmLimits.default(SwarmLimits.parse({})),
}).strict().check((context) => {
  const { issues, roles, author, reviewer, stages, planner } = context.value;
  const wrong = (path: PropertyKey[], message: string): void => {
    context.issues.push({ code: "custom", message, path, input: context.value });
  };
  const ids = new Set<string>();
  issues.forEach(({ id, role, after }, at) => {
    if (ids.has(id)) wrong(["issues", at, "id"], `"${id}" is given twice`);
    ids.add(id);
    if ((role ?? author) === reviewer) {
      wrong(
        ["issues", at, "role"],
        `"${reviewer}" reviews, and nobody reviews work of their own role`,
      );
    }
    for (const name of after) {
      if (!issues.some((each) => each.id === name)) {
        wrong(["issues", at, "after"], `no issue is called "${name}"`);
      }
    }
  });
  const circle = circleOf(issues);
  if (circle !== undefined) wrong(["issues"], `"${circle}" waits for itself`);
  if (stages.join() !== STAGES.filter((stage) => stages.includes(stage)).join()) {
    wrong(["stages"], `they stand once each, in this order: ${STAGES.join(", ")}`);
  }
  const planners = stages.length === 0 ? [] : [planner];
  const used = new Set([
    author,
    reviewer,
    ...planners,
    ...issues.flatMap(({ role }) => role ?? []),
  ]);
  for (const name of Object.keys(roles)) {
    if (!used.has(name)) wrong(["roles", name], "no issue has this role");
  }
});
/** See {@link SwarmPlan}. */
export type SwarmPlan = z.infer<typeof SwarmPlan>;

/** An issue that waits, by way of others, for itself. */
function circleOf(issues: readonly SwarmIssue[]): string | undefined {
  const done = new Set<string>();
  for (let left = issues; left.length > 0;) {
    const free = left.filter(({ after }) => after.every((name) => done.has(name)));
    if (free.length === 0) return left[0]?.id;
    for (const { id } of free) done.add(id);
    left = left.filter(({ id }) => !done.has(id));
  }
  return undefined;
}

const LONGEST = 1_000_000;

/** Reads a swarm's file. `file` is the name that errors give. @throws Fault `invalidInput` that names the setting */
export function parsePlan(text: string, file: string): SwarmPlan {
  const refuse = (why: string, cause?: unknown): Fault =>
    new Fault(
      "invalidInput",
      `Cannot read swarm ${JSON.stringify(file)}: ${why} (docs/swarm.md has an example)`,
      { cause },
    );
  if (text.length > LONGEST) throw refuse(`it is longer than ${LONGEST} characters`);
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100, stringKeys: true });
  } catch (error) {
    throw refuse(error instanceof Error ? error.message.split("\n", 1)[0] ?? "" : "no YAML", error);
  }
  return planOf(value, (why) => refuse(why));
}

/** Parses a plan. @throws what `refuse` makes of the first setting that is wrong */
export function planOf(value: unknown, refuse: (why: string) => Error): SwarmPlan {
  const parsed = SwarmPlan.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(`${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is wrong"}`);
}
