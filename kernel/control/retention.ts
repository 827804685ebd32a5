/**
 * Retention: tasks and exchanges that ended before the operator's limit are archived and purged. Chains stay, content goes.
 * Wired in kernel/main_agents.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { allTasks } from "../../contracts/task/hosting.ts";
import { TASK_TRANSITIONS } from "../../contracts/task/task.ts";
import type { TaskId } from "../../contracts/authority/mod.ts";
import type { AgentTask, HostedAgentService, RetainReport } from "../../contracts/task/mod.ts";
import type { CountedExchanges } from "../task/task_history.ts";

/** The tasks, exchanges and messages. */
export interface RetentionParts {
  readonly service: Pick<HostedAgentService, "list" | "archive" | "purge">;
  readonly exchanges: CountedExchanges & {
    erase(which: { readonly before: number }): Promise<{ readonly erased: number }>;
  };
  /** Text of settled messages without a task. */
  readonly inbox: { eraseBefore(before: number): Promise<{ readonly erased: number }> };
  /** See {@link makeClockDoubt}. */
  ahead(): number;
  /** True where a person named the task's conversation, which keeps it until the name is removed. */
  named(task: TaskId): boolean;
}

const OVER = ["completed", "failed", "canceled", "rejected"] as const;

/**
 * The tasks that ended before `before`. A clock may have been wrong for a while, so a task counts
 * as no older than any earlier task in the log: doubtful ones are kept.
 */
async function dueTasks(
  { service, named }: Pick<RetentionParts, "service" | "named">,
  before: number,
): Promise<readonly AgentTask[]> {
  const due: AgentTask[] = [];
  let begun = 0;
  for await (const task of allTasks(service.list)) {
    begun = Math.max(begun, task.createdAt);
    const last = Math.max(begun, task.updatedAt);
    const over = TASK_TRANSITIONS[task.status].length === 0;
    if (over && !task.purged && last < before && !named(task.id)) due.push(task);
  }
  return due;
}

/** A clock that is further ahead of the log's evidence is doubted. */
const DOUBT_MS = 86_400_000;

/**
 * Makes the function that tells how far, beyond a day, the clock is ahead of the evidence of the
 * log and this kernel's uptime: a clock set forward by mistake would make everything old at once.
 * After a machine was off for long, retention waits until a later start.
 */
export function makeClockDoubt(
  { lastEventAt, now, steady }: {
    /** Time of the log's newest event; undefined for an empty log. */
    readonly lastEventAt: number | undefined;
    now(): number;
    /** Milliseconds of a monotonic clock. */
    steady(): number;
  },
): () => number {
  const seen = lastEventAt ?? now(), began = steady();
  return () => Math.max(0, now() - (seen + (steady() - began) + DOUBT_MS));
}

/** Erases tasks and exchanges that ended before `before`, milliseconds since 1970; with `dryRun` it only counts. */
export async function retain(
  { service, exchanges, inbox, named, ahead }: RetentionParts,
  { before: asked, dryRun }: { readonly before: number; readonly dryRun: boolean },
): Promise<RetainReport> {
  const before = Math.max(0, asked - ahead());
  const due = await dueTasks({ service, named }, before);
  let over = 0;
  for (const state of OVER) {
    const all = (await exchanges.list({ state, size: 1 })).total;
    over += all - (await exchanges.list({ state, size: 1, since: before })).total;
  }
  if (dryRun) return { tasks: due.length, exchanges: over };
  let tasks = 0;
  for (const task of due) {
    try {
      if (!task.archived) await service.archive(task.id);
      await service.purge(task.id);
      tasks += 1;
    } catch (error) {
      // The task was resumed, forked or purged meanwhile; the next run decides again.
      if (!(error instanceof Fault) || error.code !== "conflict") throw error;
    }
  }
  const erased = (await exchanges.erase({ before })).erased;
  return { tasks, exchanges: erased, messages: (await inbox.eraseBefore(before)).erased };
}
