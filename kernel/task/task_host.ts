/**
 * Starts a task's processes and gives them what the task was granted: model, tools, workspace,
 * leases.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { programOf } from "../../contracts/exchange/mail.ts";
import { EXIT } from "../../contracts/base/fault_exit.ts";
import { outlivesTurns, TASK_TRANSITIONS } from "../../contracts/task/task.ts";
import type { Gate, Pid, TaskId } from "../../contracts/authority/mod.ts";
import type { ValueKeeper } from "../../contracts/authority/origin.ts";
import type { Signal } from "../../contracts/task/mod.ts";
import type { Reading } from "../../contracts/model/mod.ts";
import type {
  AgentTask,
  ModelChoice,
  Phase,
  Powers,
  ProcessRow,
  Staged,
  Store,
  TaskHost,
  TaskRequest,
} from "../../contracts/task/mod.ts";
import { type Replay, replayTask, systemMessage } from "./replay.ts";
import type { Restored } from "./restored.ts";
import type { LeaseTable } from "../core/lease/leases.ts";
import { grantMounts } from "../core/lease/scope.ts";
import { makeTaskTime } from "../core/lease/task_time.ts";
import { type ReadPrivate } from "../core/log/read_events.ts";
import type { AskAside, InferAside } from "../power/model/governed_model.ts";
import { makeSession, type Offspring, type Session, type SessionParts } from "./session/session.ts";
import type { Toolhosts } from "../power/toolhost/toolhosts.ts";
import { preparing } from "../power/wiki/wiki_tools.ts";
import { makeReview, makeTornPatches, watchDenials } from "./review.ts";
import { type Family, makeFamily } from "./family.ts";
import type { ReasonFor } from "./session/reasons.ts";
import { grantedScopes, isRevoked, newRoot } from "./granted_scopes.ts";
import { isPlanned, type Planned, PLANNED_OFFER } from "./planned.ts";
import { openTaskModels, type TaskModels, type TaskModelsParts } from "./models.ts";
import type { ModelGuards } from "./model_guards.ts";
import { keptOf, makeNarrow } from "./intake.ts";
import { makeHostedTask } from "./hosted_task.ts";
import { makeTaskWords } from "./task_words.ts";
import type { TaskWorkspace } from "./workspace.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import type { AgentPort } from "../power/command/run.ts";
import { AGENT_TOOLS } from "./agent_tools.ts";
import { type ForeignPortRun, makeForeignPort } from "./foreign_port.ts";

/** What {@link makeTaskHost} is handed. */
export interface TaskHostParts
  extends
    Omit<TaskModelsParts, "processes">,
    Pick<SessionParts, "children" | "gate" | "log" | "powers" | "processes"> {
  readonly leases: LeaseTable;
  readonly toolhosts: Toolhosts;
  readonly store: Pick<Store, "events" | "eraseBlobs">;
  readonly readPrivate: ReadPrivate;
  readonly disk: {
    makeDir(path: string): Promise<void>;
    remove(path: string): Promise<void>;
  };
  /** What of the policy decides which leases a task begins with. */
  readonly granting: Parameters<typeof grantedScopes>[1];
  /** STATE/kernel/work. */
  readonly work: string;
  readonly restored: Restored;
  workspace(task: TaskId, request: TaskRequest): TaskWorkspace;
  /** The phase that a task is in now; undefined: as it was made. */
  phaseOf(task: TaskId): Phase | undefined;
  /** Nobody looks any more: wakes whoever waits for an answer of this task. */
  queueQuestions(task: TaskId): void;
  /** What the task's questions say goes with the rest of its content. */
  eraseQuestions(task: TaskId): Promise<void>;
  onText(task: TaskId, text: string): void;
  onReading(task: TaskId, reading: Reading): void;
  onThinking(task: TaskId, characters: number): void;
  onWire(task: TaskId, exchange: string): void;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
  /** The task's processes have ended: drop what is kept for its calls and answers. */
  forget(task: TaskId): void;
  readonly planned: Pick<Planned, "begin">;
  readonly provenance: ValueKeeper;
  /** Globs of the never-list, and the bytes of scratch that a task may keep. */
  readonly never: readonly string[];
  readonly scratchQuota: number;
}

/** A task's processes, for `ps`, `kill` and the registries. */
export interface TaskFamily {
  readonly task: TaskId;
  readonly root: ProcessRow;
  readonly workspace: TaskWorkspace;
  /** The gate as this task's processes have it. */
  readonly gate: Gate;
  /** Its model, for inferences beside the conversation. */
  readonly aside: AskAside;
  /** The same for what imported servers ask. */
  readonly sampling: InferAside;
  /** What the models say that look at its calls and results. */
  readonly flags: ModelGuards["flags"];
  /** Another model for its root process, from the next inference on. */
  choose(to: ModelChoice): void;
  signal(pid: Pid, signal: Signal): Promise<boolean>;
  /** What its processes may call has changed: they ask for their tools anew. */
  readvertise(): void;
  /** SIGXCPU, once: the process may say its last words. */
  exhausted(pid: Pid, limit: string): Promise<void>;
  /** Its wall clock was extended: what it was granted holds as long. */
  moreTime(): Promise<void>;
  osPids(pid: Pid): readonly number[];
  readonly reasonFor: Family["reasonFor"];
  /** What one of its processes may do with children. */
  offspring(pid: Pid): Offspring;
  /** The task as a run of an agent of others reaches it. */
  foreign(run: ForeignPortRun): AgentPort;
}

/** The task host, and what it is running. */
export interface RunningTasks extends TaskHost {
  family(task: TaskId): TaskFamily | undefined;
  /** Like `family`, but throws `conflict` for a task without processes. */
  need(task: TaskId): TaskFamily;
  /** Why a call of a process is needed, in its model's words. */
  reasonFor(row: ProcessRow, ...asked: Parameters<ReasonFor>): ReturnType<ReasonFor>;
}

/** Makes the task host. */
export function makeTaskHost(parts: TaskHostParts): RunningTasks {
  const { processes, powers, toolhosts, leases } = parts;
  const running = new Map<TaskId, TaskFamily>();
  const folders = (task: TaskId): { root: string; content: string; scratch: string } => {
    const root = `${parts.work}/${task}`;
    return { root, content: `${root}/content`, scratch: `${root}/scratch` };
  };

  /** What makes the task's sessions: its models, its gate, its conversation. */
  const sessions = (
    task: AgentTask,
    request: TaskRequest,
    models: TaskModels,
    gate: Gate,
  ): (
    row: ProcessRow,
    offspring: Offspring,
    as: { readonly past?: Replay | undefined; readonly agent?: AgentSpec | undefined },
  ) => Session => {
    const program = programOf(request);
    const named = (request.agent?.agents ?? []).length === 0 ? [] : AGENT_TOOLS;
    const offer = [...request.offer ?? [], ...named.map(({ name }) => name)];
    return (row, offspring, { past, agent = request.agent }) =>
      makeSession({
        ...parts,
        ...models.inferring(row),
        gate,
        row,
        model: models.of(row),
        offspring,
        conversation: past?.conversation ?? [systemMessage({ mounts: [...row.mounts], agent })],
        contextChanges: past?.changes.length ?? 0,
        offer: isPlanned(request) ? PLANNED_OFFER : {
          // A program chooses by itself, from all that there is.
          names: program !== undefined || request.offer === "all" ? "all" : offer,
          searchAbove: request.mcpSearchAbove,
        },
        ...(program === undefined ? {} : { program }),
        ...(request.instructions === undefined || row.ppid !== undefined || isPlanned(request)
          ? {}
          : { instructions: request.instructions }),
        ...(request.answerSchema === undefined || row.ppid !== undefined
          ? {}
          : { answerSchema: request.answerSchema }),
        ...(request.reasons === true ? { reasoning: models.sampling } : {}),
        // A child of the agent is not the agent.
        ...(row.ppid === undefined ? { healthcheck: request.agent?.healthcheck } : {}),
        onText: (text) => row.ppid === undefined && parts.onText(task.id, text),
        onThinking: (count) => row.ppid === undefined && parts.onThinking(task.id, count),
        onReading: (reading) => row.ppid === undefined && parts.onReading(task.id, reading),
        onWire: (exchange) => parts.onWire(task.id, exchange),
      });
  };

  const turns = makeTurns(powers);
  const start: TaskHost["start"] = async (task, request, { resume }) => {
    await turns();
    const dirs = folders(task.id);
    const replay = resume ? await replayTask(parts.store, parts.readPrivate, task.id) : undefined;
    const models = await openTaskModels(parts, request, replay?.switched);
    await parts.planned.begin(task.id, request, replay?.plans ?? [], replay?.planned);
    const workspace = parts.workspace(task.id, request);
    for (const record of replay?.records ?? []) workspace.fold(record);
    const row = processes.add(newRoot(task, request, replay, parts.phaseOf(task.id)));
    if (replay?.model !== undefined) processes.setModel(row.pid, replay.model);
    if (replay !== undefined) parts.restored.put(task.id, replay);
    const words = makeTaskWords(task, { keeper: parts.provenance, guards: models.guards });
    if (replay !== undefined) words.restore(replay);
    // A task that is over is taken up for its operator alone, who takes a patch back.
    const isOver = TASK_TRANSITIONS[task.status].length === 0;
    const time = makeTaskTime({ leases, now: powers.now, row, session: outlivesTurns(request) });
    await time.begin(
      grantedScopes(request, parts.granting).filter((scope) => isOver || !isRevoked(replay, scope)),
    );
    const narrow = makeNarrow({ processes, leases, row });
    const kept = replay === undefined ? undefined : keptOf(replay);
    if (kept !== undefined) await narrow(kept);
    const grants = grantMounts(request);
    toolhosts.open(task.id, {
      ...{ mounts: [...request.mounts, ...grants.mounts], grants },
      contentDir: dirs.content,
      scratchDir: dirs.scratch,
      // Most tasks begin with a thought: what only a toolhost needs is made for the first one.
      async prepare(): Promise<void> {
        await Promise.all([dirs.content, dirs.scratch].map((path) => parts.disk.makeDir(path)));
      },
      never: [...parts.never, ...workspace.wikis.globs],
      wikiOwn: workspace.wikis.ownOf,
      scratchQuota: parts.scratchQuota,
      overlay: () => workspace.overlay(),
    });
    const torn = makeTornPatches({ ...parts, torn: replay?.torn ?? [], workspace, row });
    await torn.mend();
    const denied = watchDenials(preparing(parts.gate, workspace, row), workspace.patch);
    const session = sessions(task, request, models, denied.gate);
    const family = makeFamily({
      ...parts,
      session: (row, offspring, agent) => session(row, offspring, { agent }),
      tools: (pid) => new Set(parts.gate.advertise(pid).tools.map(({ name }) => name)),
    });
    const root = session(row, family.of(row.pid), { past: replay });
    family.adopt(row, root);
    let spentByAgent: string | undefined;
    running.set(task.id, {
      task: task.id,
      root: row,
      workspace,
      gate: denied.gate,
      ...{ aside: models.aside, sampling: models.sampling, flags: models.guards.flags },
      choose: models.of(row).choose,
      ...{ signal: family.signal, readvertise: family.readvertise, exhausted: family.exhausted },
      moreTime: time.extended,
      ...{ osPids: family.osPids, offspring: family.of, reasonFor: family.reasonFor },
      foreign: (run) =>
        makeForeignPort({
          ...{ gate: denied.gate, infer: models.foreign, taint: processes.taint },
          exhausted(pid, limit) {
            if (pid === row.pid) spentByAgent = limit;
            else parts.exhausted(pid, limit);
          },
        }, run),
    });
    return makeHostedTask({
      ...{ request, row, root, processes, family, time, workspace, torn, replay },
      ...{ log: parts.log, gate: denied.gate },
      declare: (tools) => parts.provenance.declare(task.id, tools),
      narrow,
      said: (message) => words.said(message, powers.now()),
      content: dirs.content,
      review: makeReview({
        ...{ gate: denied.gate, row, workspace, denied },
        past: replay?.finished.values().toArray() ?? [],
      }),
      queueQuestions: parts.queueQuestions,
      spentByAgent: () => spentByAgent,
      async end(exit): Promise<void> {
        running.delete(task.id);
        if (exit !== EXIT.waiting) await torn.settle();
        await family.end(exit);
        await toolhosts.close(task.id);
        leases.forget(task.id);
        parts.restored.forget(task.id);
        // A task that waits keeps its answers: one may have come while it was being put aside.
        if (exit !== EXIT.waiting) parts.forget(task.id);
        models.release();
      },
    });
  };

  return Object.freeze({
    start,
    async staged(task: AgentTask): Promise<Staged> {
      const replay = await replayTask(parts.store, parts.readPrivate, task.id);
      const workspace = parts.workspace(task.id, replay.request);
      for (const record of replay.records) workspace.fold(record);
      return workspace.staged(folders(task.id).content);
    },
    async erase(task: AgentTask): Promise<void> {
      // Before the blobs: with them the store folds in what was written over.
      await parts.eraseQuestions(task.id);
      await parts.store.eraseBlobs(task.id);
      await parts.disk.remove(folders(task.id).root);
    },
    family: (task: TaskId) => running.get(task),
    reasonFor: async ({ task, pid }: ProcessRow, ...asked: Parameters<ReasonFor>) =>
      await running.get(task)?.reasonFor(pid, ...asked),
    need(task: TaskId): TaskFamily {
      const family = running.get(task);
      if (family !== undefined) return family;
      throw new Fault("conflict", `Cannot reach task ${task}: it has no process now`);
    },
  });
}

/**
 * Makes a gate for such work: who comes alone passes at once, whoever comes while another passed in
 * this turn of the event loop waits for a later one, in order.
 */
export function makeTurns(powers: Pick<Powers, "after">): () => Promise<void> {
  let last: Promise<void> | undefined;
  return async () => {
    const before = last;
    const over = Promise.withResolvers<void>();
    last = over.promise;
    await before;
    powers.after(0, () => {
      if (last === over.promise) last = undefined;
      over.resolve();
    });
  };
}
