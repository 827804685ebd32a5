/** The file of a swarm: issues, roles, checks, limits; parsed with limits. @module */
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

/** One issue. */
export const SwarmIssue = z.object({
  id: Id,
  title: z.string().min(1).max(200),
  text: z.string().max(50_000).default(""),
  /** Default: the plan's author role. */
  role: Role.optional(),
  /** Issues that must be merged first. */
  after: z.array(Id).max(64).default([]),
  /** Files and folders (ending in /) that it will change; issues with overlapping paths are worked on one after the other. */
  paths: z.array(Path).max(64).default([]),
}).strict();
export type SwarmIssue = z.infer<typeof SwarmIssue>;

/** A role that works or reviews. */
const SwarmRole = z.object({
  /** An agent of remit.yaml or built in; default: the agent with the role's name. */
  agent: Role.optional(),
  /** Models, the preferred one first; default: the run's model. */
  models: z.array(Ref).min(1).max(8).optional(),
  persona: z.string().max(8_000).optional(),
}).strict();

const SwarmLimits = z.object({
  /** Simultaneous tasks. */
  workers: z.int().min(1).max(256).default(2),
  /** Attempts at one issue, and at one review. */
  attempts: z.int().min(1).max(10).default(3),
  /** Tasks in all: a guard against a runaway swarm. */
  tasks: z.int().min(1).max(10_000).default(60),
  /** Maximum minutes of one task. */
  taskMinutes: z.number().positive().max(1_440).default(20),
  /** Maximum minutes of the swarm. */
  minutes: z.number().positive().max(10_080).default(240),
  /** Maximum US dollars of one task, and of the swarm. */
  taskMoney: z.number().min(0).max(10_000).default(1),
  money: z.number().min(0).max(100_000).default(10),
  /** Maximum files of one change, and bytes of their new contents. */
  changedFiles: z.int().min(1).max(10_000).default(200),
  changedBytes: z.int().min(1).max(64_000_000).default(1_000_000),
}).strict();

/** A check: a program of this machine, run in the repository's folder within walls; exit code 0 passes. */
const SwarmCheck = z.object({
  name: z.string().min(1).max(64),
  command: z.array(z.string().min(1).max(4_096)).min(1).max(64),
  seconds: z.int().min(1).max(3_600).default(120),
}).strict();

/** The plan of a swarm. */
export const SwarmPlan = z.object({
  version: z.literal(1),
  /** The repository's folder, relative to the file; `--mount NAME=DIR` replaces it. */
  repository: z.string().min(1).max(4_096).optional(),
  issues: z.array(SwarmIssue).min(1).max(500),
  roles: z.record(Role, SwarmRole).default({}),
  author: Role.default("coder"),
  reviewer: Role.default("reviewer"),
  /** Approvals required for each change. */
  reviews: z.int().min(1).max(5).default(1),
  /** Rejections that send a change back: with 2 and 2 the best of three decides. */
  rejections: z.int().min(1).max(5).default(1),
  /** Stages before the work on an issue, in this order, done by the role `planner`. */
  stages: z.array(z.enum(STAGES)).max(3).default([]),
  planner: Role.default("researcher"),
  /** Require a reviewer's model of another provider than the author's. */
  otherProvider: z.boolean().default(false),
  checks: z.array(SwarmCheck).max(16).default([]),
  /** Files and folders of the checks, always taken from the base commit. */
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
export type SwarmPlan = z.infer<typeof SwarmPlan>;

/** An issue in a dependency cycle, if there is one. */
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

const MAX_LENGTH = 1_000_000;

/** Parses a swarm's file. `file` is its name for errors. @throws Fault `invalidInput` naming the setting */
export function parsePlan(text: string, file: string): SwarmPlan {
  const refuse = (why: string, cause?: unknown): Fault =>
    new Fault(
      "invalidInput",
      `Cannot read swarm ${JSON.stringify(file)}: ${why} (docs/swarm.md has an example)`,
      { cause },
    );
  if (text.length > MAX_LENGTH) throw refuse(`it is longer than ${MAX_LENGTH} characters`);
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100, stringKeys: true });
  } catch (error) {
    throw refuse(error instanceof Error ? error.message.split("\n", 1)[0] ?? "" : "no YAML", error);
  }
  return planOf(value, (why) => refuse(why));
}

/** Parses a plan. @throws the error that `refuse` makes for the first invalid setting */
export function planOf(value: unknown, refuse: (why: string) => Error): SwarmPlan {
  const parsed = SwarmPlan.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(`${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is wrong"}`);
}
