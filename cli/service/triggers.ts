/** What starts tasks of itself: webhooks and schedules, over one kernel. Issue 7, Webhooks and schedules. @module */
import {
  AgentTask,
  Fault,
  type HookAnswer,
  type HookCall,
  TASK_TRANSITIONS,
  TaskId,
  toJson,
} from "../../contracts/mod.ts";
import { type Command, recordOf } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import type { ServiceConfig } from "./config.ts";
import type { Fired, Firing } from "./firing.ts";
import { openFiringBook } from "./firing_book.ts";
import type { SettledGiven } from "./given_request.ts";
import { type HookCounts, makeHooks } from "./hooks.ts";
import type { TraceLink } from "./otlp.ts";
import { makeSchedules } from "./schedules.ts";

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
  counts(): HookCounts;
  close(): Promise<void>;
}

/** Asks the kernel for the task of a firing: the same firing again is answered with the task it has. */
export async function fireTask(
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
export async function stillRuns(link: Pick<KernelLink, "ask">, task: TaskId): Promise<boolean> {
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
  const { command, link, config, now, note } = parts;
  const book = openFiringBook(command.hands.disk, command.places);
  const fire = (firing: Firing): Promise<Fired> =>
    fireTask(link, parts.settled(firing.kind, firing.name), firing);
  const common = { at: config.at, book, fire, now, note };
  const hooks = makeHooks({
    ...{ ...common, webhooks: config.webhooks, secret: parts.secret },
    began: (task, other) => parts.began?.(task, other),
  });
  const schedules = makeSchedules({
    ...{ ...common, schedules: config.schedules, after: parts.after },
    running: (task) => stillRuns(link, task),
  });
  await schedules.start();
  return Object.freeze<Triggers>({
    hook: hooks.call,
    counts: hooks.counts,
    close: schedules.stop,
  });
}
