/** Tasks with live processes: start, turns, endings, and the queue for processes. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { atMoment } from "../../contracts/base/moment.ts";
import { EXIT } from "../../contracts/base/fault_exit.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type { HostedTask, NewTask, TaskHost } from "../../contracts/task/hosting.ts";
import type { Digest, TaskId } from "../../contracts/authority/ids.ts";
import type { Powers } from "../../contracts/task/process.ts";
import { type AgentTask, outlivesTurns, type TaskRequest } from "../../contracts/task/task.ts";
import { type Ending, endingOf, endingOfFault, lastStatus } from "./ending.ts";
import { isFinal } from "./fold.ts";
import type { TaskKeeper } from "./keeper.ts";

/** The parts of {@link makeTaskRuns}. */
export interface TaskRunsParts {
  readonly keeper: TaskKeeper;
  readonly host: TaskHost;
  readonly powers: Powers;
  /** Reads back a task's request. */
  requestOf(task: TaskId): Promise<TaskRequest>;
  /** Digest of the kernel's rules. */
  readonly rules: Digest;
  /** Maximum number of tasks with live processes; others wait. */
  readonly concurrent: number;
  /** Notifies watchers of a task that stopped without its end being stored. */
  stranded(task: TaskId, why: string, exit: number): void;
  /** Messages that a non-interactive task must be shown before it ends. */
  more?(task: TaskId): Promise<ChatMessage | undefined>;
  /** Called when no work of the task is running any more. */
  over?(task: TaskId): void;
  /**
   * Called after a turn that leaves its task open, before anything is written. To end the task with
   * the turn, call `end`, which commits the end together with `more` of the finished task, and
   * resolve true.
   */
  closing?(task: TaskId, end: (more: Closing) => Promise<void>): Promise<boolean>;
}

/** Data committed together with a task's end. */
export type Closing = (done: AgentTask) => TaskCompany;

/** Data committed together with a change of a task. */
export type TaskCompany = Pick<NewTask, "events" | "documents">;

/** The running side of the service. */
export interface TaskRuns {
  hosted(task: TaskId): HostedTask | undefined;
  request(task: TaskId): TaskRequest | undefined;
  /** Whether a turn or its start is running. */
  running(task: TaskId): boolean;
  /** Resolves when the work running now has ended. */
  settled(task: TaskId): Promise<void>;
  /** Starts the processes; resolves once they run. */
  start(
    task: AgentTask,
    request: TaskRequest,
    resume: boolean,
  ): Promise<{ readonly hosted: HostedTask; readonly unfinished: boolean }>;
  /** Runs a turn to its status; ends the processes when the task needs none. */
  turn(task: TaskId, message: ChatMessage | undefined): Promise<void>;
  /** Interrupts the running work, or the turn about to start. */
  interrupt(task: TaskId): void;
  /** Runs work in the background; a fault or bug in it fails the task. */
  run(task: TaskId, work: () => Promise<void>): void;
  status(task: TaskId, ending: Ending, more?: TaskCompany): Promise<AgentTask>;
  release(task: TaskId, exit: number): Promise<void>;
  expireLater(task: AgentTask): void;
  idle(): boolean;
  close(): Promise<void>;
}

/** Makes the runs of tasks. */
export function makeTaskRuns(parts: TaskRunsParts): TaskRuns {
  const { keeper, host, powers } = parts;
  const live = new Map<TaskId, { readonly hosted: HostedTask; readonly request: TaskRequest }>();
  const clocks = makeWallClocks({
    keeper,
    powers,
    expire(task, reason): void {
      if (!live.has(task)) return;
      run(task, async () => {
        await status(task, { status: "expired", exit: EXIT.budgetExhausted, reason });
        await release(task, EXIT.budgetExhausted);
      });
    },
  });
  const running = new Map<TaskId, Promise<void>>();
  /** Tasks whose running work has reached its turn. */
  const begun = new Set<TaskId>();
  /** Tasks interrupted before that. */
  const early = new Set<TaskId>();
  const queue: (() => void)[] = [];
  let slots = parts.concurrent;
  let closed = false;

  const enter = async (): Promise<void> => {
    if (slots > 0) {
      slots -= 1;
      return;
    }
    await new Promise<void>((resolve) => queue.push(resolve));
  };
  const leave = (): void => {
    const next = queue.shift();
    if (next === undefined) slots += 1;
    else next();
  };

  const status: TaskRuns["status"] = (task, ending, more) =>
    keeper.record(task, [{
      kind: "taskStatus",
      body: {
        status: ending.status,
        ...(ending.exit === undefined ? {} : { exit: ending.exit }),
        ...(ending.failed === undefined ? {} : { failed: ending.failed }),
        ...(ending.resumed === undefined ? {} : { resumed: ending.resumed }),
      },
      private: {
        ...(ending.answer === undefined ? {} : { answer: ending.answer }),
        ...(ending.reason === undefined ? {} : { reason: ending.reason }),
      },
    }, ...more?.events ?? []], more?.documents);

  const release = async (task: TaskId, exit: number): Promise<void> => {
    const entry = live.get(task);
    if (entry === undefined) return;
    live.delete(task);
    const status = keeper.get(task)?.status;
    if (status === undefined || isFinal(status)) clocks.stop(task);
    else clocks.pause(task);
    await entry.hosted.end(exit);
    leave();
  };

  const start = async (
    task: AgentTask,
    request: TaskRequest,
    resume: boolean,
  ): Promise<{ hosted: HostedTask; unfinished: boolean }> => {
    await enter();
    try {
      // The task may have been cancelled while it waited.
      const now = keeper.need(task.id);
      checkSame(task, now);
      if (resume && !isFinal(now.status) && now.rules !== parts.rules) {
        await keeper.record(task.id, [{ kind: "recovered", body: { rules: parts.rules } }]);
      }
      const started = await host.start(now, request, { resume });
      try {
        checkSame(task, keeper.need(task.id));
      } catch (error) {
        await started.hosted.end(EXIT.failure);
        throw error;
      }
      live.set(task.id, { hosted: started.hosted, request });
      return started;
    } catch (error) {
      leave();
      throw error;
    }
  };

  const runTurn = async (task: TaskId, message: ChatMessage | undefined): Promise<void> => {
    const entry = live.get(task);
    if (entry === undefined) {
      throw new Fault("gone", `Cannot go on with task ${task}: it has no process`);
    }
    const { hosted, request } = entry;
    if (keeper.need(task).status === "reviewing") await status(task, { status: "open" });
    const ending = hosted.turn(message);
    begun.add(task);
    if (early.delete(task)) hosted.interrupt();
    const turn = await ending;
    if (closed || isFinal(keeper.need(task).status)) return;
    const review = turn.stop === "waiting" || request.review === "asked"
      ? { kind: "nothing" as const }
      : await hosted.review(() => status(task, { status: "reviewing" }));
    if (closed || isFinal(keeper.need(task).status)) return;
    const ends = turn.stop === "answered" && !request.interactive && review.kind !== "waiting";
    const more = ends ? await parts.more?.(task) : undefined;
    if (more !== undefined) return await runTurn(task, more);
    const next = endingOf(turn, review, {
      interactive: request.interactive,
      contaminated: keeper.contaminated(task),
      outlives: outlivesTurns(request),
    });
    if (next.status === "open" && await closes(task, next)) return;
    if (closed || isFinal(keeper.need(task).status)) return;
    await status(task, next);
    if (outlivesTurns(request)) clocks.stop(task);
    const died = turn.stop === "upstream" && turn.died === true;
    if (isFinal(next.status) || next.status === "needsApproval" || died) {
      await release(task, next.exit ?? next.failed ?? EXIT.waiting);
    }
  };

  /** Ends the task with its turn, if `closing` wants that. */
  const closes = async (task: TaskId, next: Ending): Promise<boolean> => {
    let exit: number | undefined;
    const wanted = await parts.closing?.(task, async (more) => {
      const now = keeper.need(task);
      if (closed || isFinal(now.status)) return;
      const last = { ...next, ...lastStatus(keeper.contaminated(task)) };
      await status(task, last, more({ ...now, ...last }));
      exit = last.exit;
    });
    if (exit !== undefined) await release(task, exit);
    return wanted === true;
  };

  const outlives = async (task: TaskId): Promise<boolean> => {
    const request = live.get(task)?.request ?? await parts.requestOf(task).catch(() => undefined);
    return request !== undefined && outlivesTurns(request);
  };

  const run = (task: TaskId, work: () => Promise<void>): void => {
    let told = (): void => {};
    let stranded = false;
    const done = work().catch(async (error: unknown) => {
      if (closed) return;
      let exit: number = EXIT.failure;
      const known = keeper.get(task);
      if (known !== undefined && !isFinal(known.status)) {
        const reason = error instanceof Error ? error.message : String(error);
        const ending: Ending = error instanceof Fault
          ? endingOfFault(error, await outlives(task))
          : { status: "failed", exit, reason: `a bug ended it: ${reason}` };
        exit = ending.exit ?? ending.failed ?? exit;
        await status(task, ending).catch(() => {
          keeper.strand(task, reason);
          stranded = true;
          told = () => parts.stranded(task, reason, exit);
        });
        // The processes stay for the next message, with what was allowed.
        if (ending.status === "open" && !stranded) return clocks.stop(task);
      }
      await release(task, exit);
    }).finally(() => {
      if (running.get(task) === done) {
        running.delete(task);
        early.delete(task);
        begun.delete(task);
        // If nothing can be written, due messages would start the task again and again.
        if (!closed && !stranded) parts.over?.(task);
      }
      // Last, so that a watcher can resume the task at once.
      told();
    });
    running.set(task, done);
  };

  return Object.freeze({
    hosted: (task: TaskId) => live.get(task)?.hosted,
    request: (task: TaskId) => live.get(task)?.request,
    running: (task: TaskId) => running.has(task),
    settled: async (task: TaskId) => await running.get(task),
    start,
    turn: runTurn,
    interrupt(task: TaskId): void {
      live.get(task)?.hosted.interrupt();
      if (running.has(task) && !begun.has(task)) early.add(task);
    },
    run,
    status,
    release,
    expireLater: (task: AgentTask) => clocks.start(task.id),
    idle: () =>
      running.size === 0 && [...live.keys()].every((task) => keeper.get(task)?.status !== "open"),
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...live.keys()].map((task) => release(task, EXIT.failure)));
      await Promise.allSettled([...running.values()]);
    },
  });
}

/** Throws `cancelled` if the task has ended while it waited to start. */
function checkSame(asked: AgentTask, now: AgentTask): void {
  if (isFinal(asked.status) || !isFinal(now.status)) return;
  throw new Fault("cancelled", `Cannot begin task ${now.id}: it is "${now.status}"`);
}

export interface WallClockParts {
  readonly keeper: Pick<TaskKeeper, "get">;
  readonly powers: Pick<Powers, "now" | "after">;
  /** Called when a working or reviewing task has used up its time. */
  expire(task: TaskId, reason: string): void;
}

/** Wall-clock limits by task. */
export interface WallClocks {
  /** Starts a clock, or resumes a paused one with its remaining time. */
  start(task: TaskId): void;
  /** Pauses the clock while the task waits for a person or is unattended. */
  pause(task: TaskId): void;
  /** Resets the clock: the next turn has the full time again. */
  stop(task: TaskId): void;
}

/** Makes the clocks. Extensions by a person apply to running clocks. */
function makeWallClocks({ keeper, powers, expire }: WallClockParts): WallClocks {
  const waits = new Map<TaskId, { readonly began: number; readonly cancel: () => void }>();
  /** Milliseconds used, of paused clocks. */
  const used = new Map<TaskId, number>();

  const wait = (id: TaskId, began: number): void => {
    const due = (): number => began + (keeper.get(id)?.limits.wallClockMs ?? 0);
    const cancel = atMoment(powers, due(), () => {
      waits.delete(id);
      const task = keeper.get(id);
      if (task?.status !== "open" && task?.status !== "reviewing") return;
      if (due() > powers.now()) return wait(id, began);
      expire(id, `its wall-clock limit of ${task.limits.wallClockMs} ms passed`);
    });
    waits.set(id, { began, cancel });
  };
  const halt = (id: TaskId): number | undefined => {
    const running = waits.get(id);
    running?.cancel();
    waits.delete(id);
    return running?.began;
  };

  return Object.freeze({
    start(task: TaskId): void {
      if (waits.has(task)) return;
      wait(task, powers.now() - (used.get(task) ?? 0));
      used.delete(task);
    },
    pause(task: TaskId): void {
      const began = halt(task);
      if (began !== undefined) used.set(task, powers.now() - began);
    },
    stop(task: TaskId): void {
      halt(task);
      used.delete(task);
    },
  });
}
