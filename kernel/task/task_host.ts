/**
 * Starts a task's processes and gives them the task's grants: model, tools, workspace, leases.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { programOf } from "../../contracts/exchange/mail.ts";
import { EXIT } from "../../contracts/base/fault_exit.ts";
import { outlivesTurns, TASK_TRANSITIONS } from "../../contracts/task/task.ts";
import type { Gate, Pid, TaskId } from "../../contracts/authority/mod.ts";
import { DeclaredTools, type ValueKeeper } from "../../contracts/authority/origin.ts";
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
import type { TaskWorkspace } from "./workspace.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import type { AgentPort } from "../power/command/run.ts";
import { AGENT_TOOLS } from "./agent_tools.ts";
import { type ForeignPortRun, makeForeignPort } from "./foreign_port.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";

/** The kernel's parts that run tasks. */
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
  /** The parts of the policy that decide a task's first leases. */
  readonly granting: Parameters<typeof grantedScopes>[1];
  /** STATE/kernel/work. */
  readonly work: string;
  readonly restored: Restored;
  workspace(task: TaskId, request: TaskRequest): TaskWorkspace;
  /** The current phase of a task; undefined: its first phase. */
  phaseOf(task: TaskId): Phase | undefined;
  /** The person has left: ends waits for the task's questions. */
  queueQuestions(task: TaskId): void;
  /** Erases the text of the task's questions, with the rest of its content. */
  eraseQuestions(task: TaskId): Promise<void>;
  onText(task: TaskId, text: string): void;
  onReading(task: TaskId, reading: Reading): void;
  onThinking(task: TaskId, characters: number): void;
  onWire(task: TaskId, exchange: string): void;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
  /** The task's processes have ended: drops the state of its calls and answers. */
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
  /** The gate of this task's processes. */
  readonly gate: Gate;
  /** The task's model, for inferences outside the conversation. */
  readonly aside: AskAside;
  /** The same, for requests of imported servers. */
  readonly sampling: InferAside;
  /** Flags of the guards that check calls and results. */
  readonly flags: ModelGuards["flags"];
  /** Switches the root process's model, from the next inference on. */
  choose(to: ModelChoice): void;
  signal(pid: Pid, signal: Signal): Promise<boolean>;
  /** Tells the processes that their callable tools have changed. */
  readvertise(): void;
  /** Sends SIGXCPU once; the process may still give a last answer. */
  exhausted(pid: Pid, limit: string): Promise<void>;
  /** Prolongs the task's leases after its wall clock was extended. */
  moreTime(): Promise<void>;
  osPids(pid: Pid): readonly number[];
  readonly reasonFor: Family["reasonFor"];
  /** A process's powers over its children. */
  offspring(pid: Pid): Offspring;
  /** The port of a foreign agent's run to this task. */
  foreign(run: ForeignPortRun): AgentPort;
}

/** The task host, and its running tasks. */
export interface RunningTasks extends TaskHost {
  family(task: TaskId): TaskFamily | undefined;
  /** Like `family`, but throws `conflict` for a task without processes. */
  need(task: TaskId): TaskFamily;
  /** The model's own reason for a call of a process. */
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

  /** Makes the task's sessions, from its models, gate and conversation. */
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
          // A program chooses by itself from all tools.
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
        // The health check applies to the agent itself, not to its children.
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
    // A finished task is resumed only for its operator, who undoes a patch.
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
      // Most tasks start with an inference, so folders are made when the first toolhost starts.
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
        // A waiting task keeps its answers: one may have arrived while the task was being suspended.
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
      // Before the blobs, because erasing those also compacts overwritten documents.
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
 * Spreads starts over the event loop: a lone start passes at once, further starts in the same turn
 * of the event loop wait for later turns, in order.
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

/** Hears a task's messages. */
export interface TaskWords {
  /** Ignores messages that are not a person's own words. `at`: milliseconds since 1970. */
  said(message: ChatMessage, at?: number): void;
  /**
   * Restores an earlier kernel's state. INVARIANT: the words are those that the kernel received,
   * not those that a worker reports (test: "a worker's word for the person's …").
   */
  restore(replay: Pick<Replay, "said" | "records" | "performed" | "heard">): void;
}

/** Makes the listener of one task. */
export function makeTaskWords(
  { id }: Pick<AgentTask, "id">,
  { keeper, guards }: { readonly keeper: ValueKeeper; readonly guards: Pick<ModelGuards, "said"> },
): TaskWords {
  // A task that was suspended and resumed in the same kernel is known already.
  let known = keeper.knows(id);
  const hear = (text: string, at: number | undefined): void => {
    if (!known) keeper.said(id, { text, ...(at === undefined ? {} : { at }) });
    guards.said(text);
  };
  const said: TaskWords["said"] = ({ role, content, provenance: { origin, colour } }, at) => {
    const persons = origin === "operator" || origin === "person";
    if (role === "user" && colour === "BLUE" && persons) hear(content, at);
  };
  return Object.freeze<TaskWords>({
    said,
    restore({ said: all, records, performed, heard }): void {
      for (const { message, at } of all) said(message, at);
      const told = known;
      known = false;
      if (told) return;
      for (const { declared } of records) {
        if (declared !== undefined) keeper.declare(id, DeclaredTools.parse(declared));
      }
      for (const call of performed) keeper.performed(id, call);
      for (const each of heard) keeper.restore(id, each);
    },
  });
}
