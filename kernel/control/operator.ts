/** The handlers of the control operations of the operator's own user. @module */
import { defined } from "../core/process/defined.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Limits } from "../../contracts/task/budget.ts";
import type {
  ModelAnswer,
  ProcessInfo,
  Vectors,
  WatchEvent,
} from "../../contracts/task/control_answers.ts";
import type { Delegation } from "../../contracts/base/delegation.ts";
import type { Amounts } from "../../contracts/task/spending.ts";
import type { BudgetStanding } from "../../contracts/task/spending.ts";
import type { AuditRecord } from "../../contracts/task/event.ts";
import type { Decision, Leases, Questions } from "../../contracts/authority/gate.ts";
import {
  allTasks,
  type ConversationStore,
  type ForkRequest,
  type HostedAgentService,
} from "../../contracts/task/hosting.ts";
import type { Digest, Pid, SessionId, TaskId } from "../../contracts/authority/ids.ts";
import type { Answer, Question } from "../../contracts/authority/question.ts";
import { isObject, type Json } from "../../contracts/base/json.ts";
import type { Lease } from "../../contracts/authority/lease.ts";
import type { Sanitized, SanitizeMark } from "../../contracts/memory/content_trust.ts";
import type { McpLoan } from "../../contracts/exchange/mcp_loan.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { Receipt } from "../../contracts/authority/receipt.ts";
import type { Signal } from "../../contracts/task/signal.ts";
import type { AgentTask, Phase } from "../../contracts/task/task.ts";
import type { Artifact } from "../../contracts/tool/workspace.ts";
import type { ConversationReads } from "../task/context_past.ts";
import type { StateOps } from "../task/task_history.ts";
import type { McpOps } from "../power/mcp/tokens.ts";
import type { PeerOps } from "../power/peer/peer_ops.ts";
import type { ControlHandlers } from "./control.ts";
import { firstPage } from "./pages.ts";
import type { AuditFilter, ControlRequest } from "./control_ops.ts";
import type { FleetBody } from "./fleet_ops.ts";
import { makeView } from "./fleet_view.ts";
import type { Profiles } from "../power/net/profiles.ts";
import type { InboxOps } from "./inbox_ops.ts";
import type { ResourceOps } from "./resource_ops.ts";
import { makeOnce } from "./run_once.ts";
import { answerWorkspaces, type Workspaces } from "./workspaces.ts";

type Body<Op extends ControlRequest["op"]> = Extract<ControlRequest, { op: Op }>["body"];

/** The kernel's parts behind the control operations. */
export interface OperatorParts {
  readonly service: HostedAgentService;
  readonly leases: Leases;
  readonly questions: Questions & {
    readonly delegations: { delegate(given: Delegation): void; undelegate(key: string): void };
  };
  readonly conversations: ConversationStore;
  readonly past: ConversationReads;
  now(): number;
  /** Names a new session. */
  session(): SessionId;
  /** Digest of this kernel's rules. */
  readonly rules: Digest;
  /** The hash of the log's last seal. */
  head(): Digest;
  rows(): readonly ProcessRow[];
  /** A task with its live status: "blocked" while its first process is stopped, which is not logged. */
  standing(task: AgentTask): AgentTask;
  osPids(row: ProcessRow): readonly number[];
  signal(pid: Pid, signal: Signal): Promise<void>;
  tools(task: TaskId): readonly object[];
  grants(task: TaskId | undefined): readonly object[];
  /** All leases of these tasks, ended ones included; `live`: the living ones. */
  leasesEver(
    of: AsyncIterable<AgentTask> | readonly AgentTask[],
    live: readonly Lease[],
  ): Promise<readonly Lease[]>;
  can(query: Body<"can">): Promise<Decision>;
  extend(task: TaskId, limits: Partial<Limits>): Promise<AgentTask>;
  move(task: TaskId, phase: Phase): Promise<AgentTask>;
  artifacts(task: TaskId | undefined): Promise<readonly Artifact[]>;
  release(artifact: Artifact["id"]): Promise<Artifact>;
  sanitize(mark: SanitizeMark): Promise<Sanitized>;
  signed(asked: Body<"signed">): object;
  log(task: TaskId, from: number): AsyncIterable<WatchEvent>;
  costs(span: Body<"costs">): Promise<readonly object[]>;
  budgets(): Promise<readonly BudgetStanding[]>;
  /** Counts use by the operator's own programs; `past`: it happened already, whether or not it fits. */
  use(amounts: Amounts, doing: string, past: boolean): Promise<void>;
  auditQuery(filter: AuditFilter): AsyncIterable<AuditRecord>;
  auditExport(): AsyncIterable<string>;
  auditVerify(head: Digest | undefined): Promise<object>;
  /** This kernel's fleet; undefined where its log is a file of its own. */
  readonly fleet: OperatorFleet | undefined;
  auditRepair(): Promise<object>;
  receipts(task: TaskId, call: string | undefined): Promise<readonly Receipt[]>;
  unload(ref: string | undefined): Promise<object>;
  lend(secret: Body<"lend">): void;
  keepSecrets(kept: Body<"secrets">): void;
  embed(asked: Body<"embed">): Promise<Vectors>;
  ask(asked: Body<"ask">): Promise<ModelAnswer>;
  choose(task: TaskId, model: Body<"model">["model"]): Promise<void>;
  readonly mcp: McpOps;
  readonly workspaces: Pick<Workspaces, "list" | "files" | "decide">;
  /** Undefined in a fleet, which has no profiles. */
  readonly profiles: Pick<Profiles, "ask"> | undefined;
  readonly agents: InboxOps & PeerOps & StateOps & ResourceOps;
  /** Ends the kernel when no work is left, or now: running tasks then continue with the next kernel. */
  stop(now: boolean): void;
}

/** Newest tasks whose ended leases are searched for an unknown lease. */
const RECENT_TASKS = 20;

/** A gateway's views of all kernels. */
export interface FleetViews {
  /** Tells whether this kernel runs the task, or ran it to its end. */
  owns(task: TaskId): Promise<boolean>;
  /** Like this kernel's own operations, over all kernels. */
  tasks(query: Body<"tasks">): Promise<readonly AgentTask[]>;
  /** Processes of kernels that answer, each with its kernel's name. */
  ps(): Promise<readonly Json[]>;
  /** A task's events without their private parts, which only the task's kernel can open. */
  log(task: TaskId, from: number): AsyncIterable<WatchEvent>;
  costs(span: Body<"costs">): Promise<readonly object[]>;
  /** Checks every kernel's log; `head` must be the seal of one of them. */
  verify(head: Digest | undefined): Promise<object>;
}

/** The operator's operations across kernels. */
export interface OperatorFleet {
  readonly views: FleetViews;
  ask(body: FleetBody): Promise<Json>;
  task(id: TaskId): Promise<AgentTask | undefined>;
  staged(task: TaskId): Promise<Json>;
  cancel(task: TaskId): Promise<AgentTask | undefined>;
  questions(): Promise<readonly Question[]>;
  carry(answer: Answer): Promise<Question>;
}

/** Makes the handlers of the control operations. */
export function makeHandlers(parts: OperatorParts): ControlHandlers {
  const { service, questions, leases, conversations, past } = parts;
  const runOnce = makeOnce(service);
  const readable = (task: TaskId): TaskId => {
    if (!service.get(task).purged) return task;
    throw new Fault("conflict", `Cannot read the conversation of ${task}: its content is erased`);
  };
  const handlers: Omit<ControlHandlers, "view"> = {
    run: (request: Body<"run">) => runOnce(request),
    say: ({ task, text, attached }: Body<"say">) => service.say(task, text, attached),
    context: ({ task }: Body<"context">) => past.changes(readable(task)),
    contextShow: ({ task, number, from }: Body<"contextShow">) =>
      past.evicted(readable(task), number, from),
    contextRestore: ({ task, number }: Body<"contextRestore">) => service.restore(task, number),
    conversations: async () => {
      await conversations.sweep();
      return await past.rows(conversations.list(), service.find);
    },
    conversation: ({ conversation, turn, from }: Body<"conversation">) =>
      past.messages(readable(conversations.find(conversation)), turn, from),
    conversationName: ({ task, name }: Body<"conversationName">) => conversations.name(name, task),
    conversationFork: async (body: Body<"conversationFork">) => {
      const { id } = await service.fork(forkOf(body, conversations.find(body.conversation)));
      if (body.name !== undefined) await conversations.name(body.name, id);
      return { task: id };
    },
    conversationExpire: ({ name, afterMs }: Body<"conversationExpire">) =>
      conversations.expire(name, afterMs === undefined ? undefined : parts.now() + afterMs),
    conversationRemove: ({ name }: Body<"conversationRemove">) => conversations.remove(name),
    tasks: async (query: Body<"tasks">) => (await service.list(query)).map(parts.standing),
    head: () => ({ head: parts.head() }),
    task: async ({ task }: Body<"task">) => {
      const other = service.find(task) === undefined ? await parts.fleet?.task(task) : undefined;
      return other ?? parts.standing(service.get(task));
    },
    cancel: async ({ task }: Body<"cancel">) => {
      if (service.find(task) === undefined && parts.fleet !== undefined) {
        return await parts.fleet.cancel(task) ?? { id: task, status: "cancelled" };
      }
      return await service.cancel(task, "cancelled by its operator");
    },
    finish: ({ task }: Body<"finish">) => service.finish(task),
    resume: ({ task }: Body<"resume">) => service.resume(task),
    archive: ({ task }: Body<"archive">) => service.archive(task),
    purge: ({ task }: Body<"purge">) => service.purge(task),
    interrupt: ({ task, second, signal }: Body<"interrupt">) => {
      const why = signal === undefined ? "interrupted twice" : `ended by ${signal}`;
      return service.interrupt(task, second ? why : undefined);
    },
    ps: () => parts.rows().map((row) => infoOf(row, parts.osPids(row))),
    kill: ({ pid, signal }: Body<"kill">) => parts.signal(pid, signal),
    questions: async ({ task }: Body<"questions">) => {
      const own = questions.open(task);
      const ids = new Set(own.map(({ id }) => id));
      const others = await parts.fleet?.questions() ?? [];
      return [
        ...own,
        ...others.filter((each) => !ids.has(each.id) && (task === undefined || each.task === task)),
      ];
    },
    question: async ({ question }: Body<"question">) => {
      const found = await questions.find(question) ??
        (await parts.fleet?.questions())?.find(({ id }) => id === question);
      if (found === undefined) {
        throw new Fault("notFound", `Cannot show question ${question}: there is none`);
      }
      return found;
    },
    answer: async (answer: Body<"answer">) => {
      const here = await questions.find(answer.question);
      if (here === undefined && parts.fleet !== undefined) return await parts.fleet.carry(answer);
      return await takeAnswer(parts, answer);
    },
    staged: ({ task }: Body<"staged">): Promise<object> => {
      if (service.find(task) !== undefined || parts.fleet === undefined) {
        return service.staged(task);
      }
      return parts.fleet.staged(task).then((staged) => {
        if (isObject(staged)) return staged;
        throw new Fault(
          "notFound",
          `Cannot show the changes of task ${task}: its kernel shows them while a person is asked about them`,
        );
      });
    },
    undo: ({ task, files }: Body<"undo">) => service.undo(task, files),
    tools: ({ task }: Body<"tools">) => parts.tools(task),
    caps: ({ task }: Body<"caps">) => leases.list(task).filter((lease) => leases.alive(lease.id)),
    grants: ({ task }: Body<"grants">) => parts.grants(task),
    can: (query: Body<"can">) => parts.can(query),
    modelUnload: ({ ref }: Body<"modelUnload">) => parts.unload(ref),
    lend: (secret: Body<"lend">) => parts.lend(secret),
    secrets: (kept: Body<"secrets">) => parts.keepSecrets(kept),
    embed: (asked: Body<"embed">) => parts.embed(asked),
    ask: (asked: Body<"ask">) => parts.ask(asked),
    model: ({ task, model }: Body<"model">) => parts.choose(task, model),
    leases: ({ task }: Body<"leases">) =>
      parts.leasesEver(
        task === undefined ? allTasks(service.list, { newest: true }) : [service.get(task)],
        leases.list(task),
      ),
    revoke: async ({ lease }: Body<"revoke">) => {
      const revoked = await leases.revoke(lease, "revoked by its operator");
      if (revoked.length === 0) {
        // A mistyped id must not look like an ended lease, but the search must not read a long history either.
        const ever = await parts.leasesEver(
          (await service.list({ archived: true, limit: RECENT_TASKS })).toReversed(),
          leases.list(),
        );
        if (!ever.some(({ id }) => id === lease)) {
          throw new Fault(
            "notFound",
            `Cannot revoke lease ${lease}: there is none, also among those that ended with the last ${RECENT_TASKS} tasks`,
          );
        }
      }
      return { revoked };
    },
    outbox: ({ task }: Body<"outbox">) => parts.artifacts(task),
    release: ({ artifact }: Body<"release">) => parts.release(artifact),
    sanitize: (mark: Body<"sanitize">) => parts.sanitize(mark),
    signed: (asked: Body<"signed">) => parts.signed(asked),
    extend: ({ task, limits }: Body<"extend">) => parts.extend(task, defined(limits)),
    phase: ({ task, phase }: Body<"phase">) => parts.move(task, phase),
    log: ({ task, from }: Body<"log">) => {
      const others = service.find(task) === undefined ? parts.fleet?.views : undefined;
      return firstPage((others ?? parts).log(task, from));
    },
    costs: (span: Body<"costs">) => parts.costs(span),
    budgets: () => parts.budgets(),
    workspaces: (body: Body<"workspaces">) => answerWorkspaces(parts.workspaces, body),
    profiles: (body: Body<"profiles">) => {
      if (parts.profiles !== undefined) return parts.profiles.ask(body);
      throw new Fault("unavailable", "Cannot keep browser profiles: a fleet's kernels have none");
    },
    use: ({ amounts, doing, past }: Body<"use">) => parts.use(amounts, doing, past),
    auditQuery: (filter: Body<"auditQuery">) => parts.auditQuery(filter),
    auditExport: () => parts.auditExport(),
    auditVerify: ({ head }: Body<"auditVerify">) => parts.auditVerify(head),
    auditRepair: () => parts.auditRepair(),
    fleet: (body: Body<"fleet">) => {
      if (parts.fleet !== undefined) return parts.fleet.ask(body);
      throw new Fault(
        "unavailable",
        "Cannot ask a fleet: the log of this state is a file of its own; --store URL puts a new state's into a database",
      );
    },
    receipts: ({ task, call }: Body<"receipts">) => parts.receipts(task, call),
    mcpLook: (asked: Body<"mcpLook">) => parts.mcp.mcpLook(asked),
    mcpLend: (loan: Body<"mcpLend">) => parts.mcp.mcpLend(definedLoan(loan)),
    mcpTokens: (asked: Body<"mcpTokens">) => parts.mcp.mcpTokens(asked),
    mcpRevoke: (asked: Body<"mcpRevoke">) => parts.mcp.mcpRevoke(asked),
    mcpLog: (asked: Body<"mcpLog">) => parts.mcp.mcpLog(asked),
    delegate: (given: Body<"delegate">) => questions.delegations.delegate(given),
    undelegate: ({ key }: Body<"undelegate">) => questions.delegations.undelegate(key),
    ...parts.agents,
    counts: async () => ({
      ...await parts.agents.counts(),
      questions: questions.open().length,
      processes: parts.rows().length,
    }),
    stop: (how: Body<"stop">) => parts.stop(how?.force === true),
  };
  return Object.freeze({
    ...handlers,
    view: makeView(handlers, { fleet: parts.fleet?.views, session: () => parts.session() }),
  });
}

/** Takes a person's answer, and resumes the task where nothing else holds it up. */
export async function takeAnswer(
  { questions, service, rules }: Pick<OperatorParts, "questions" | "service" | "rules">,
  answer: Answer,
): Promise<Question> {
  const question = await questions.answer(answer);
  const task = service.get(question.task);
  // A server's queued question holds up no task, and a proposal's answer settles the other proposals' questions.
  const proposal = question.scope.tool === "proposal_run";
  const waiting = questions.open(question.task).some(({ kind, scope }) =>
    kind !== "elicit" && !(proposal && scope.tool === "proposal_run")
  );
  // An answer does not confirm changed rules: under new rules the operator must resume the task.
  const own = task.rules === undefined || task.rules === rules;
  if (task.status === "needsApproval" && own && !waiting && question.kind !== "elicit") {
    await service.resume(question.task);
  }
  return question;
}

function forkOf(body: Body<"conversationFork">, task: TaskId): ForkRequest {
  const { turn, message, model, session, ingress } = body;
  return { task, session, ingress, ...defined({ turn, message, model }) };
}

function definedLoan({ oauth, ...loan }: Body<"mcpLend">): McpLoan {
  return oauth === undefined ? loan : { ...loan, oauth: defined(oauth) };
}

function infoOf(row: ProcessRow, os: readonly number[]): ProcessInfo {
  return {
    pid: row.pid,
    ppid: row.ppid ?? null,
    task: row.task,
    spec: row.spec,
    state: row.status,
    colour: row.colour,
    label: row.label,
    caps: row.snapshot?.tools.map((tool) => tool.name) ?? [],
    limits: row.limits,
    usage: row.usage,
    exit: row.exit ?? null,
    os,
    model: row.model.id,
  };
}
