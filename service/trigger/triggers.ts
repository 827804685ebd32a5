/** Webhooks and schedules over one kernel. Used by service/running_service.ts. @module */
import { type SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { Fault, type Port, toJson } from "../../contracts/base/mod.ts";
import type { ScheduleConfig, WebhookConfig } from "../../contracts/policy/mod.ts";
import {
  AgentTask,
  type Ingress,
  TASK_TRANSITIONS,
  type TaskRequest,
} from "../../contracts/task/mod.ts";
import type { HookAnswer, HookCall } from "../../contracts/wire/mod.ts";
import type { HookCounts, TraceLink } from "../trace/mod.ts";
import type { Fired, Firing, FiringBook } from "./firing.ts";
import { type Hooks, makeHooks } from "./hooks.ts";
import { makeSchedules, type Schedules } from "./schedules.ts";

const NONE = { taken: 0, duplicate: 0, unknown: 0, late: 0 } as const;

/** The parts of remit.yaml about webhooks and schedules. */
export interface TriggerRules {
  readonly config: {
    readonly webhooks: Readonly<Record<string, WebhookConfig>>;
    readonly schedules: Readonly<Record<string, ScheduleConfig>>;
    /** `FILE:LINE` of an entry. */
    at(entry: string): string;
  };
  readonly setting: { settled(kind: Firing["kind"], name: string): FiredTasks };
}

/** Makes the tasks of one entry, as remit.yaml settles them. */
export interface FiredTasks {
  request(
    text: string,
    by: Ingress & { readonly session: SessionId; readonly interactive: boolean },
  ): TaskRequest;
}

/** The powers of {@link openTriggers}, and its first rules. */
export interface TriggerParts extends TriggerRules {
  /** The kernel. */
  readonly link: Pick<Port, "ask">;
  readonly book: FiringBook;
  /** The value of a webhook's stored secret. */
  secret(name: string): string | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  after(ms: number, then: () => void): () => void;
  /** Notes that a webhook's task began, for the trace that its delivery named. */
  began?(task: TaskId, link: TraceLink | undefined): void;
  note(text: string): void;
}

/** The webhooks and schedules of a service. */
export interface Triggers {
  /** Answers one delivery. Rejects `rateLimited`, and the kernel's faults. */
  hook(call: HookCall): Promise<HookAnswer>;
  /** Counts of all webhooks, past ones included. */
  counts(): HookCounts;
  /**
   * Checks replacement rules; the returned function applies them. Throws `invalidInput` for an
   * entry that does not parse: then nothing has changed.
   */
  prepare(next: TriggerRules): () => Promise<void>;
  close(): Promise<void>;
}

/** Asks the kernel for the task of a firing: a repeated firing gets its first task. */
async function fireTask(
  link: TriggerParts["link"],
  settled: FiredTasks,
  firing: Firing,
): Promise<Fired> {
  const { request, session, ingress } = firing;
  const asked = settled.request(request, { ...ingress, session, interactive: false });
  const { task, already } = Object(await link.ask("run", toJson(asked)));
  return { task: TaskId.parse(task), already: already === true };
}

/** Tells whether a task has not ended; a task unknown to the kernel has. */
async function stillRuns(link: TriggerParts["link"], task: TaskId): Promise<boolean> {
  try {
    const { status } = AgentTask.parse(await link.ask("task", { task }));
    return TASK_TRANSITIONS[status].length > 0;
  } catch (error) {
    if (error instanceof Fault && error.code === "notFound") return false;
    throw error;
  }
}

/**
 * Starts webhooks and schedules; due schedules fire at once, by their rule.
 *
 * @throws Fault `invalidInput` for an entry that does not parse, named with its `FILE:LINE`
 */
export async function openTriggers(parts: TriggerParts): Promise<Triggers> {
  const { link, book, now, note } = parts;
  const made = (
    { config, setting }: TriggerRules,
  ): { readonly hooks: Hooks; readonly schedules: Schedules } => {
    const fire = (firing: Firing): Promise<Fired> =>
      fireTask(link, setting.settled(firing.kind, firing.name), firing);
    const common = { at: config.at, book, fire, now, note };
    return {
      hooks: makeHooks({
        ...{ ...common, webhooks: config.webhooks, secret: parts.secret },
        began: (task, other) => parts.began?.(task, other),
      }),
      schedules: makeSchedules({
        ...{ ...common, schedules: config.schedules, after: parts.after },
        running: (task) => stillRuns(link, task),
      }),
    };
  };
  let live = made(parts);
  let past: HookCounts = {};
  let closed = false;
  await live.schedules.start();
  return Object.freeze<Triggers>({
    hook: (call) => live.hooks.call(call),
    counts: () => together(past, live.hooks.counts()),
    prepare(next) {
      const coming = made(next);
      return async () => {
        await live.schedules.stop();
        past = together(past, live.hooks.counts());
        live = coming;
        if (!closed) await live.schedules.start();
      };
    },
    async close(): Promise<void> {
      closed = true;
      await live.schedules.stop();
    },
  });
}

/** The sum of counts: a counter never falls. */
function together(before: HookCounts, since: HookCounts): HookCounts {
  const names = new Set([...Object.keys(before), ...Object.keys(since)]);
  return Object.fromEntries([...names].map((name) => {
    const [a = NONE, b = NONE] = [before[name], since[name]];
    const sum = {
      ...{ taken: a.taken + b.taken, duplicate: a.duplicate + b.duplicate },
      ...{ unknown: a.unknown + b.unknown, late: a.late + b.late },
    };
    return [name, sum];
  }));
}
