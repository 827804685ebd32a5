/**
 * Plans of planned programs: what each task's program may call, as its text says and a person agreed to. Who runs the
 * program is not believed: each call is held to its place in the text. docs/planned_programs.md.
 * @module
 */
import type { HeldPlan, PlanSite, PlanTemplate } from "../contracts/authority/plan.ts";
import type { Digest, QuestionId, TaskId } from "../contracts/authority/ids.ts";
import { isList, isObject, type Json } from "../contracts/base/json.ts";
import { PLAN_RUN, siteOfCall } from "../contracts/exchange/planned.ts";
import type { ProcessRow } from "../contracts/task/process.ts";
import { canonicalJson } from "../port/mod.ts";

/** A call in a task that has a plan, or is to have one. */
export interface PlannedCall {
  readonly process: Pick<ProcessRow, "task" | "ppid">;
  readonly callId: string;
  readonly tool: string;
  readonly descriptor: Digest;
  readonly args: Json;
  readonly argumentsHash: Digest;
}

/** A call that is in the plan, and the answer that a person gave to it; or why it is not. */
export type PlanVerdict =
  | { readonly site: PlanSite; readonly question: QuestionId | undefined }
  | { readonly why: string };

/** The plans of a kernel's tasks. */
export interface Plans {
  /**
   * The task makes no call but those of a plan. `taken`: programs that it took under an earlier kernel; `made`: calls of
   * the last of them that acted.
   */
  begin(task: TaskId, taken: readonly Digest[], made?: readonly MadePlannedCall[]): void;
  /** Whether the task took this program before: it may go on with it. */
  hasTaken(task: TaskId, program: Digest): boolean;
  /** The answer under which the task's plan stands; undefined when this program is not its plan. */
  standing(
    task: TaskId,
    program: Digest,
  ): { readonly question: QuestionId | undefined } | undefined;
  /** Takes a plan in place of the one before. */
  take(task: TaskId, plan: HeldPlan, question: QuestionId | undefined): void;
  /** Undefined for what needs no plan: any call of another task, and of this one taking a plan or applying a patch. */
  judge(call: PlannedCall): PlanVerdict | undefined;
  /** A call that acts was let through: the same one may come again, another one in its place may not. */
  made(call: Pick<PlannedCall, "process" | "callId" | "argumentsHash">): void;
  forget(task: TaskId): void;
}

/** A call of a program that acted. */
export type MadePlannedCall = Pick<PlannedCall, "callId" | "argumentsHash">;

interface TaskPlan {
  /** The program whose calls `made` holds. */
  of: Digest | undefined;
  readonly taken: Set<Digest>;
  plan: HeldPlan | undefined;
  question: QuestionId | undefined;
  /** Calls that acted, by their place and which of that place's they were. */
  readonly made: Map<string, { readonly callId: string; readonly argumentsHash: Digest }>;
}

const placeOf = ({ site, nth }: { readonly site: number; readonly nth: number }): string =>
  `${site}-${nth}`;

/** What a person applies at the end of a turn was staged by the plan's own calls. */
const FREE: ReadonlySet<string> = new Set([PLAN_RUN, "patch_apply"]);

/** Makes the plans of a kernel: none. */
export function makePlans(): Plans {
  const tasks = new Map<TaskId, TaskPlan>();
  return Object.freeze<Plans>({
    begin(task, taken, made = []): void {
      const held = tasks.get(task) ??
        { plan: undefined, question: undefined, of: taken.at(-1), made: new Map() };
      tasks.set(task, { ...held, taken: new Set(taken) });
      for (const { callId, argumentsHash } of made) {
        const of = siteOfCall(callId);
        if (of !== undefined) held.made.set(placeOf(of), { callId, argumentsHash });
      }
    },
    hasTaken: (task, program) => tasks.get(task)?.taken.has(program) ?? false,
    standing(task, program): ReturnType<Plans["standing"]> {
      const held = tasks.get(task);
      return held?.plan?.program === program ? { question: held.question } : undefined;
    },
    take(task, plan, question): void {
      const held = tasks.get(task);
      if (held === undefined) return;
      held.taken.add(plan.program);
      // Another program's places are others.
      if (held.of !== undefined && held.of !== plan.program) held.made.clear();
      held.of = plan.program;
      held.plan = plan;
      held.question = question;
    },
    judge({ process, callId, tool, descriptor, args, argumentsHash }): PlanVerdict | undefined {
      const held = tasks.get(process.task);
      if (held === undefined || FREE.has(tool)) return undefined;
      const of = siteOfCall(callId), site = of && held.plan?.sites[of.site - 1];
      const template = of && held.plan?.templates[of.site - 1];
      if (of === undefined || site === undefined || template === undefined) {
        return { why: "only the calls of its program are made in this task" };
      }
      if (process.ppid !== undefined) {
        return { why: "the program's calls are made by the task's own process" };
      }
      const place = `call ${site.site} of the program`;
      if (site.tool !== tool) return { why: `${place} is of ${site.tool}` };
      if (site.descriptor !== descriptor) return { why: `the tool of ${place} is not what it was` };
      if (of.nth < 1 || of.nth > site.atMost) {
        return { why: `${place} is made at most ${site.atMost} times` };
      }
      const differs = misfit(template, args, "");
      if (differs !== undefined) {
        return { why: `${place} says something else for ${JSON.stringify(differs)}` };
      }
      const before = held.made.get(placeOf(of));
      if (before !== undefined && before.argumentsHash !== argumentsHash) {
        return { why: `${place} was made with other arguments` };
      }
      // INVARIANT: a program that is run again does not act again (test: "… runs its program twice …").
      if (before !== undefined && before.callId !== callId) {
        return { why: `${place} was made already` };
      }
      return { site, question: held.question };
    },
    made({ process, callId, argumentsHash }): void {
      const of = siteOfCall(callId);
      if (of !== undefined) {
        tasks.get(process.task)?.made.set(placeOf(of), { callId, argumentsHash });
      }
    },
    forget: (task) => void tasks.delete(task),
  });
}

/**
 * Where a value is not what the text of the program says, as a path; undefined when it fits.
 * INVARIANT: what the text says word for word is what is called with (test: "… another recipient …").
 */
function misfit(template: PlanTemplate, value: Json | undefined, path: string): string | undefined {
  if ("from" in template) return undefined;
  if ("literal" in template) {
    const same = value !== undefined && canonicalJson(value) === canonicalJson(template.literal);
    return same ? undefined : path;
  }
  const within = (name: string | number): string => path === "" ? String(name) : `${path}.${name}`;
  if ("list" in template) {
    if (!isList(value) || value.length !== template.list.length) return path;
    return template.list.map((each, n) => misfit(each, value[n], within(n))).find((each) =>
      each !== undefined
    );
  }
  if (!isObject(value)) return path;
  const fields = new Map(Object.entries(template.record));
  const strange = Object.keys(value).find((name) => !fields.has(name));
  if (strange !== undefined) return within(strange);
  for (const [name, each] of fields) {
    // What is computed may come to nothing, and is left out then.
    if (!Object.hasOwn(value, name) && "from" in each) continue;
    const found = misfit(each, Object.hasOwn(value, name) ? value[name] : undefined, within(name));
    if (found !== undefined) return found;
  }
  return undefined;
}
