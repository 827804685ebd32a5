/**
 * The plans of planned programs: which calls each task's program may make, as its text says and a
 * person agreed. The process that runs the program is not trusted: each call is checked against its
 * site in the text. docs/planned_programs.md.
 * @module
 */
import type { HeldPlan, PlanSite, PlanTemplate } from "../contracts/authority/plan.ts";
import type { Digest, QuestionId, TaskId } from "../contracts/authority/ids.ts";
import { isList, isObject, type Json } from "../contracts/base/json.ts";
import { PLAN_RUN, siteOfCall } from "../contracts/exchange/planned.ts";
import type { ProcessRow } from "../contracts/task/process.ts";
import { canonicalJson } from "../port/mod.ts";

/** A call in a task with a planned program. */
export interface PlannedCall {
  readonly process: Pick<ProcessRow, "task" | "ppid">;
  readonly callId: string;
  readonly tool: string;
  readonly descriptor: Digest;
  readonly args: Json;
  readonly argumentsHash: Digest;
}

/** The call's site and the person's answer to the plan; or why the call is not in the plan. */
export type PlanVerdict =
  | { readonly site: PlanSite; readonly question: QuestionId | undefined }
  | { readonly why: string };

/** The plans of a kernel's tasks. */
export interface Plans {
  /**
   * Restricts a task to calls of a plan. `taken`: programs accepted under an earlier kernel;
   * `made`: performed calls of the last of them.
   */
  begin(task: TaskId, taken: readonly Digest[], made?: readonly MadePlannedCall[]): void;
  /** Whether the task accepted this program before, so that it may continue. */
  hasTaken(task: TaskId, program: Digest): boolean;
  /** The answer to the task's current plan; undefined if this program is not the plan. */
  standing(
    task: TaskId,
    program: Digest,
  ): { readonly question: QuestionId | undefined } | undefined;
  /** Replaces the task's plan. */
  take(task: TaskId, plan: HeldPlan, question: QuestionId | undefined): void;
  /** Checks a call against the plan; undefined if none is needed: in other tasks, for `plan_run` and `patch_apply`. */
  judge(call: PlannedCall): PlanVerdict | undefined;
  /** Records an allowed call with an effect: it may be repeated, but no other call may take its place. */
  made(call: Pick<PlannedCall, "process" | "callId" | "argumentsHash">): void;
  forget(task: TaskId): void;
}

/** A performed call of a program. */
export type MadePlannedCall = Pick<PlannedCall, "callId" | "argumentsHash">;

interface TaskPlan {
  /** The program whose calls are in `made`. */
  of: Digest | undefined;
  readonly taken: Set<Digest>;
  plan: HeldPlan | undefined;
  question: QuestionId | undefined;
  /** Performed calls by site and count. */
  readonly made: Map<string, { readonly callId: string; readonly argumentsHash: Digest }>;
}

const placeOf = ({ site, nth }: { readonly site: number; readonly nth: number }): string =>
  `${site}-${nth}`;

/** `patch_apply` needs no plan: the plan's own calls staged the patch. */
const FREE: ReadonlySet<string> = new Set([PLAN_RUN, "patch_apply"]);

/** An empty table of plans. */
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
      // Sites of another program differ.
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
      // INVARIANT: a program that runs again does not act again (test: "… runs its program twice …").
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
 * The path of the first value that differs from the program's text; undefined if all match.
 * INVARIANT: a literal of the text is called with exactly that value (test: "… another recipient
 * …").
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
    // A computed value may be undefined and is then omitted.
    if (!Object.hasOwn(value, name) && "from" in each) continue;
    const found = misfit(each, Object.hasOwn(value, name) ? value[name] : undefined, within(name));
    if (found !== undefined) return found;
  }
  return undefined;
}
