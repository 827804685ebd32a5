/** What starts tasks of itself: webhooks and schedules, over one kernel. @module */
import {
  AgentTask,
  Fault,
  type HookAnswer,
  type HookCall,
  TASK_TRANSITIONS,
  TaskId,
  toJson,
} from "../../../contracts/mod.ts";
import { type Command, recordOf } from "../../command.ts";
import type { KernelLink } from "../../hands.ts";
import type { ServiceConfig } from "../../config/serve.ts";
import { type Fired, type Firing, openFiringBook } from "./firing.ts";
import type { SettledGiven } from "../setting.ts";
import { type HookCounts, type Hooks, makeHooks } from "./hooks.ts";
import type { TraceLink } from "../trace/traces.ts";
import { makeSchedules, type Schedules } from "./schedules.ts";

const NONE = { taken: 0, duplicate: 0, unknown: 0, late: 0 } as const;

/** What {@link openTriggers} is handed. */
export interface TriggerParts {
  readonly command: Command;
  readonly link: Pick<KernelLink, "ask">;
  readonly config: Pick<ServiceConfig, "webhooks" | "schedules" | "at">;
  settled(kind: Firing["kind"], name: string): Pick<SettledGiven, "request">;
  /** The value of a kept secret of a webhook. */
  secret(name: string): string | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  after(ms: number, then: () => void): () => void;
  /** A webhook's task began on behalf of another's trace, or of none. */
  began?(task: TaskId, link: TraceLink | undefined): void;
  note(text: string): void;
}

/** The webhooks and schedules of a service. */
export interface Triggers {
  /** Answers one delivery. Rejects `rateLimited`, and what the kernel says. */
  hook(call: HookCall): Promise<HookAnswer>;
  /** Of all webhooks that there were. */
  counts(): HookCounts;
  /**
   * Looks at what is to be in their place; the answer puts it there. Throws `invalidInput`, and nothing has changed, for an
   * entry that does not parse.
   */
  prepare(next: Pick<TriggerParts, "config" | "settled">): () => Promise<void>;
  close(): Promise<void>;
}

/** Asks the kernel for the task of a firing: the same firing again is answered with the task it has. */
async function fireTask(
  link: Pick<KernelLink, "ask">,
  settled: Pick<SettledGiven, "request">,
  firing: Firing,
): Promise<Fired> {
  const { request, session, ingress } = firing;
  const answer = await link.ask(
    "run",
    toJson(settled.request(request, { ...ingress, session, interactive: false })),
  );
  const { task, already } = recordOf(answer);
  return { task: TaskId.parse(task), already: already === true };
}

/** Tells whether a task has not ended; one that the kernel does not know has. */
async function stillRuns(link: Pick<KernelLink, "ask">, task: TaskId): Promise<boolean> {
  try {
    const { status } = AgentTask.parse(await link.ask("task", { task }));
    return TASK_TRANSITIONS[status].length > 0;
  } catch (error) {
    if (error instanceof Fault && error.code === "notFound") return false;
    throw error;
  }
}

/**
 * Opens them; schedules that are due fire at once, by their rule.
 *
 * @throws Fault `invalidInput` for an entry that does not parse, named with its `FILE:LINE`
 */
export async function openTriggers(parts: TriggerParts): Promise<Triggers> {
  const { command, link, now, note } = parts;
  const book = openFiringBook(command.hands.disk, command.places);
  const made = (
    { config, settled }: Pick<TriggerParts, "config" | "settled">,
  ): { readonly hooks: Hooks; readonly schedules: Schedules } => {
    const fire = (firing: Firing): Promise<Fired> =>
      fireTask(link, settled(firing.kind, firing.name), firing);
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

/** What was counted before and since: a counter never falls. */
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
