/**
 * Starts a task's processes and gives them what the task was granted: model, tools, workspace,
 * leases. DESIGN section 2, step 3.
 * @module
 */
import {
  type AgentTask,
  type ChatMessage,
  type HostedTask,
  type Limits,
  type Pid,
  type ProcessRow,
  type ReviewOutcome,
  type Scope,
  type TaskHost,
  type TaskId,
  type TaskRequest,
  type TurnOutcome,
} from "../contracts/mod.ts";
import type { ModelServices } from "./model_services.ts";
import { systemMessage } from "./persona.ts";
import { type ReadPrivate, type Replay, replayTask } from "./replay.ts";
import { makeSession, type SessionParts } from "./session.ts";
import { makeReview, type ReviewParts } from "./review.ts";
import { makeFamily } from "./family.ts";
import type { TaskWorkspace } from "./task_workspace.ts";
import type { Store } from "../contracts/mod.ts";
import type { ProcessTable } from "./process_table.ts";
import type { LeaseTable } from "./leases.ts";
import type { Toolhosts } from "./toolhosts.ts";

/** Where a task's own files lie. */
export interface TaskDirs {
  readonly root: string;
  readonly content: string;
  readonly scratch: string;
}

/** What {@link makeTaskHost} is handed. */
export interface TaskHostParts
  extends
    Pick<SessionParts, "children" | "gate" | "log" | "powers" | "brake">,
    Pick<ReviewParts, "gate"> {
  readonly processes: ProcessTable;
  readonly leases: LeaseTable;
  readonly toolhosts: Toolhosts;
  readonly models: ModelServices;
  readonly store: Pick<Store, "events" | "eraseBlobs">;
  readonly readPrivate: ReadPrivate;
  /** Makes the workspace of a task, folding what an earlier kernel committed. */
  workspace(task: TaskId, request: TaskRequest, dirs: TaskDirs): TaskWorkspace;
  modelRefused(
    row: ProcessRow,
    model: { readonly ref: string; readonly remote: boolean },
  ): string | undefined;
  dirs(task: TaskId): TaskDirs;
  makeDirs(dirs: TaskDirs): Promise<void>;
  removeDirs(dirs: TaskDirs): Promise<void>;
  onText(task: TaskId, text: string): void;
  /** The task's finished and unfinished calls, for the gate. */
  restored(task: TaskId, replay: Replay): void;
  /** A task's processes have ended: forget what the gate and broker kept for them. */
  forget(task: TaskId): void;
  never(): readonly string[];
}

/** A task's processes, for `ps`, `kill` and the registries. */
export interface TaskFamily {
  readonly root: ProcessRow;
  readonly workspace: TaskWorkspace;
  signal(pid: Pid, signal: import("../contracts/mod.ts").Signal): Promise<boolean>;
  osPids(pid: Pid): readonly number[];
}

/** The task host, and what it is running. */
export interface RunningTasks extends TaskHost {
  family(task: TaskId): TaskFamily | undefined;
  families(): readonly TaskFamily[];
}

/** The scopes that a task's first process is granted. */
export function grantedScopes(request: Pick<TaskRequest, "mounts">): readonly Scope[] {
  const scopes: Scope[] = [
    { resource: "model", right: "use", path: "" },
    { resource: "agent", right: "use", path: "" },
    { resource: "scratch", right: "read", path: "" },
    { resource: "scratch", right: "write", path: "" },
    { resource: "outbox", right: "write", path: "" },
  ];
  for (const mount of request.mounts) {
    scopes.push({ resource: "mount", right: "read", path: mount.name });
    if (mount.mode !== "ro") scopes.push({ resource: "mount", right: "write", path: mount.name });
  }
  return scopes;
}

/** Makes the task host. */
export function makeTaskHost(parts: TaskHostParts): RunningTasks {
  const running = new Map<TaskId, TaskFamily>();

  const start: TaskHost["start"] = async (task, request, { resume }) => {
    const dirs = parts.dirs(task.id);
    const [model, replay] = await Promise.all([
      parts.models.provide(request.model),
      resume ? replayTask(parts.store, parts.readPrivate, task.id) : undefined,
      parts.makeDirs(dirs),
    ]);
    const workspace = parts.workspace(task.id, request, dirs);
    for (const record of replay?.records ?? []) workspace.fold(record);
    for (const patch of replay?.undone ?? []) workspace.undone(patch);
    const row = addRow(parts, task, request, replay);
    const family = makeFamily({ ...parts, task, request, model, workspace });
    try {
      if (replay !== undefined) parts.restored(task.id, replay);
      await parts.leases.grantAll(
        grantedScopes(request).map((scope) => ({
          task: task.id,
          pid: row.pid,
          scope,
          expiresAt: parts.powers.now() + task.limits.wallClockMs,
          reason: "the task's request",
        })),
      );
      parts.toolhosts.open(task.id, {
        mounts: request.mounts,
        contentDir: dirs.content,
        scratchDir: dirs.scratch,
        never: parts.never(),
        overlay: () => workspace.overlay(),
        recorded: () => workspace.recorded(),
      });
    } catch (error) {
      model.release();
      parts.processes.end(row.pid, 1);
      throw error;
    }
    const session = makeSession({
      ...parts,
      row,
      model,
      modelRefused: (each) =>
        parts.modelRefused(each, { ref: request.model.ref, remote: model.info.remote }),
      conversation: replay?.conversation ?? [systemMessage(request)],
      ...(request.program === undefined ? {} : { program: request.program }),
      offspring: family.of(row.pid),
      onText: (text) => parts.onText(task.id, text),
    });
    family.adopt(row, session);
    const review = makeReview({ gate: parts.gate, row, workspace });
    running.set(task.id, { root: row, workspace, signal: family.signal, osPids: family.osPids });

    let pending = replay?.pending;
    let unfinished = pending !== undefined || !isAnswered(replay?.conversation ?? []);
    const hosted: HostedTask = {
      async turn(message): Promise<TurnOutcome> {
        const next = message ?? pending;
        if (next === undefined && !unfinished) return answered(replay?.conversation ?? []);
        if (next !== undefined) parts.processes.setTurn(row.pid, row.turn + 1);
        pending = undefined;
        const end = await session.turn(next);
        if (end.stop !== "waiting") unfinished = false;
        return end;
      },
      review: (): Promise<ReviewOutcome> => review(),
      interrupt: () => session.interrupt(),
      unattended: () => parts.processes.setOnQuestion(row.pid, "queue"),
      staged: () => workspace.staged(dirs.content),
      undo: () => workspace.undo(row),
      contaminated: () => workspace.contaminated(),
      async end(exit): Promise<void> {
        running.delete(task.id);
        await family.end(exit);
        await parts.toolhosts.close(task.id);
        parts.leases.forget(task.id);
        model.release();
        parts.forget(task.id);
      },
    };
    return { hosted, unfinished };
  };

  return Object.freeze({
    start,
    async erase(task: AgentTask): Promise<void> {
      await parts.store.eraseBlobs(task.id);
      await parts.removeDirs(parts.dirs(task.id));
    },
    family: (task: TaskId) => running.get(task),
    families: () => [...running.values()],
  });
}

function addRow(
  parts: TaskHostParts,
  task: AgentTask,
  request: TaskRequest,
  replay: Replay | undefined,
): ProcessRow {
  const limits: Limits = task.limits;
  return parts.processes.add({
    task: task.id,
    session: request.session,
    conversation: task.id,
    principal: request.ingress.principal,
    profile: request.profile,
    spec: "agent",
    mounts: request.mounts,
    limits,
    onQuestion: request.onQuestion,
    phase: request.phase,
    colour: replay?.colour ?? request.ingress.colour,
    label: replay?.label ?? request.ingress.label,
    sources: replay?.sources ?? [],
    turn: replay?.turn ?? 0,
    usage: replay?.spent ?? {},
  });
}

function isAnswered(conversation: readonly ChatMessage[]): boolean {
  const last = conversation.at(-1);
  return last?.role === "assistant" && (last.toolCalls ?? []).length === 0;
}

function answered(conversation: readonly ChatMessage[]): TurnOutcome {
  return { stop: "answered", text: conversation.at(-1)?.content ?? "" };
}
