/**
 * The processes of one task: a root and its children. A process signals only its own children, a
 * child holds a subset of its parent's rights, and killing a parent leaves no orphan. Used by
 * task_host.ts and hosted_task.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { ToolName } from "../../contracts/authority/ids.ts";
import { EXIT } from "../../contracts/base/fault_exit.ts";
import type { Pid, Scope } from "../../contracts/authority/mod.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import type { Signal } from "../../contracts/task/mod.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import type { ProcessRow } from "../../contracts/task/mod.ts";
import type { TurnEnd } from "../../contracts/wire/mod.ts";
import {
  onBrakeAnswer,
  onSignal,
  type SignalAction,
  type SignalState,
} from "../core/process/signals.ts";
import type { ReasonFor } from "./session/reasons.ts";
import type { Offspring, Session, SessionTurn } from "./session/session.ts";
import type { TaskHostParts } from "./task_host.ts";
import { isInherited } from "../power/wiki/wiki_tools.ts";

/** The parts of the task's host that a family uses. */
export interface FamilyParts
  extends
    Pick<TaskHostParts, "processes" | "leases" | "log" | "powers" | "toolhosts" | "askBrake"> {
  /** Makes the session of a child that runs as `agent`. */
  session(row: ProcessRow, offspring: Offspring, agent: AgentSpec | undefined): Session;
  /** Tools advertised to a process now. */
  tools(pid: Pid): ReadonlySet<string>;
}

/** A task's processes. */
export interface Family {
  /** A process's powers over its children. */
  of(pid: Pid): Offspring;
  /** Adds the task's first process. */
  adopt(row: ProcessRow, session: Session): void;
  /** Delivers a signal; false when the process is not of this family. */
  signal(pid: Pid, signal: Signal): Promise<boolean>;
  /** Sends SIGXCPU once, when a limit of the process is exhausted. */
  exhausted(pid: Pid, limit: string): Promise<void>;
  /** The first exhausted limit of a process. */
  limitOf(pid: Pid): string | undefined;
  /** The signal that killed a process, with its exit code. */
  killedBy(pid: Pid): { readonly signal: Signal; readonly exit: number } | undefined;
  /** Tells each process that its callable tools have changed. */
  readvertise(): void;
  osPids(pid: Pid): readonly number[];
  /** The model's own reason for a call of one of the processes. */
  reasonFor(pid: Pid, ...asked: Parameters<ReasonFor>): ReturnType<ReasonFor>;
  end(exit: number): Promise<void>;
}

interface Member {
  readonly row: ProcessRow;
  readonly session: Session;
  signals: SignalState;
  killed: { readonly signal: Signal; readonly exit: number } | undefined;
  limit: string | undefined;
  result: Promise<TurnResult> | undefined;
  /** After an answer the process waits for its next message. */
  readonly stays: boolean;
}

interface TurnResult {
  readonly exit: number;
  readonly text: string;
}

const NO_RESULT: Promise<TurnResult> = Promise.resolve({ exit: EXIT.failure, text: "" });
const NO_TAINT = { colour: "BLUE", sources: [] } as const;

/** Exit code of a child by how its turn ended. */
const EXIT_OF = {
  answered: EXIT.success,
  iterations: EXIT.budgetExhausted,
  budget: EXIT.budgetExhausted,
  brake: EXIT.budgetExhausted,
  cancelled: EXIT.interrupted,
  terminated: EXIT.failure,
  contextOverflow: EXIT.contextOverflow,
  length: EXIT.contextOverflow,
  upstream: EXIT.upstreamFailure,
  waiting: EXIT.waiting,
} as const satisfies Record<TurnEnd["stop"] | "waiting", number>;

/** Makes an empty family. */
export function makeFamily(parts: FamilyParts): Family {
  const { processes, leases } = parts;
  const members = new Map<Pid, Member>();

  const join = (row: ProcessRow, session: Session, stays = false): Member => {
    const member: Member = {
      ...{ row, session, stays },
      signals: "running",
      killed: undefined,
      limit: undefined,
      result: undefined,
    };
    members.set(row.pid, member);
    return member;
  };

  const childOf = (parent: Pid, pid: number): Member => {
    const found = [...members.values()].find(({ row }) => row.pid === pid && row.ppid === parent);
    if (found === undefined) {
      throw new Fault(
        "refused",
        `Cannot reach process ${pid}: it is not a child of process ${parent}`,
      );
    }
    return found;
  };

  const endSubtree = async (member: Member, exit: number): Promise<void> => {
    const ending = [...processes.descendants(member.row.pid).map(({ pid }) => pid), member.row.pid];
    processes.end(member.row.pid, exit);
    await Promise.all(ending.map((pid) => members.get(pid)?.session.end()));
  };

  const act = async (member: Member, signal: Signal, action: SignalAction): Promise<void> => {
    const { row, session } = member;
    switch (action.kind) {
      case "deliver":
        session.tell(action.signal);
        return;
      case "hold":
        processes.setStatus(row.pid, "stopped");
        parts.toolhosts.freeze(row.pid);
        session.hold();
        return;
      case "release":
        processes.setStatus(row.pid, "running");
        parts.toolhosts.thaw(row.pid);
        session.release();
        return;
      case "interrupt":
        session.interrupt();
        return;
      case "readvertise":
        session.capsChanged();
        return;
      case "conclude":
        // The text so far becomes the partial result; nobody waits for the rest.
        session.stopInferring();
        parts.powers.after(action.withinMs, () => {
          if (row.status === "ended") return;
          member.killed = { signal, exit: action.exit };
          void endSubtree(member, action.exit);
        });
        return;
      case "end":
        member.killed = { signal, exit: action.exit };
        await endSubtree(member, action.exit);
        return;
      case "askBrake":
        // Not awaited, so that the sender of the signal does not wait for a person.
        void brake(member);
        return;
      case "reap": // `wait` gives the exit
        return;
    }
  };

  /** Holds a process until a person answers; when the question is queued, the turn ends and the task waits. */
  const brake = async (member: Member): Promise<void> => {
    let allowed = false;
    try {
      allowed = await parts.askBrake(member.row);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "needsApproval") return member.session.park(error);
    }
    if (member.row.status === "ended") return;
    const { next, actions } = onBrakeAnswer(member.signals, allowed);
    member.signals = next;
    for (const action of actions) await act(member, "SIGBRAKE", action);
  };

  const deliver = async (member: Member, signal: Signal): Promise<void> => {
    const { next, actions } = onSignal(member.signals, signal);
    member.signals = next;
    await parts.log.append(member.row.task, [{
      kind: "signalled",
      body: { pid: member.row.pid, signal },
    }]);
    for (const action of actions) await act(member, signal, action);
  };

  const inheritLeases = ({ pid: parent, mounts }: ProcessRow, row: ProcessRow): void => {
    const inherited = leases.list(row.task).filter(({ pid, scope }) =>
      pid === parent && isInherited(scope) && (!isOf(scope, mounts) || isOf(scope, row.mounts))
    );
    // Logged together with the process's start: separate commits would each wait for the disk.
    leases.inherit(inherited.map(({ id }) => id), {
      pid: row.pid,
      reason: `a child of process ${parent}`,
    });
  };

  const spawn = async (
    parent: Pid,
    body: Parameters<Offspring["spawn"]>[0],
  ): Promise<number> => {
    const above = processes.get(parent);
    if (above === undefined) throw new Fault("gone", `Cannot spawn: process ${parent} has ended`);
    const capabilities = body.capabilities ?? body.tools.map((tool) => ({ tool: parseTool(tool) }));
    const limits = Object.fromEntries(
      Object.entries(body.limits).filter(([, value]) => value !== undefined),
    );
    const row = processes.deriveChild(parent, {
      ...{ capabilities, limits },
      ...(body.mounts === undefined ? {} : { mounts: body.mounts }),
      tools: parts.tools(parent),
      spec: body.agent?.name ?? "child",
      // INVARIANT: calls are named by conversation, so that no process gets the result of a related one.
      conversation: `${above.conversation}/${members.size}`,
    });
    inheritLeases(above, row);
    const child = parts.session(row, of(row.pid), body.agent);
    const member = join(row, child, body.stays);
    await parts.log.append(row.task, [{
      kind: "processStarted",
      body: {
        ...{ pid: row.pid, ppid: parent },
        ...(body.agent === undefined ? {} : { agent: body.agent.name }),
      },
    }]);
    begin(
      parent,
      member,
      body.persona === "" ? body.request : `${body.persona}\n\n${body.request}`,
    );
    return row.pid;
  };

  /** Begins a turn of a child; its parent gets SIGCHLD at the end. */
  const begin = (parent: Pid, member: Member, content: string): void => {
    const { row, session } = member;
    const { task, colour, label } = row;
    const message: ChatMessage = {
      role: "user",
      content,
      provenance: { origin: "agent", source: `process ${parent}`, colour, label },
    };
    processes.setTurn(row.pid, row.turn + 1);
    member.result = session.turn(message).then(
      (turn: SessionTurn) => ({ exit: EXIT_OF[turn.stop], text: turn.text }),
      (error: unknown) => ({
        exit: EXIT.failure,
        text: error instanceof Fault ? error.message : "a bug ended it",
      }),
    ).then(async (done) => {
      const exit = member.killed?.exit ?? done.exit;
      if (!member.stays || exit !== EXIT.success || row.status === "ended") {
        await endSubtree(member, exit);
        await parts.log.append(task, [{ kind: "processEnded", body: { pid: row.pid, exit } }]);
      }
      const awaiting = members.get(parent);
      if (awaiting !== undefined) await deliver(awaiting, "SIGCHLD");
      return { exit, text: done.text };
    });
  };

  const say = async (parent: Pid, pid: number, text: string): Promise<void> => {
    const member = childOf(parent, pid);
    await member.result;
    if (member.row.status === "ended") {
      throw new Fault("gone", `Cannot send to agent ${pid}: it has ended; start another`);
    }
    begin(parent, member, text);
  };

  /** Taints the parent with a child's answer; an answer from a closed list of choices keeps the parent's colour. */
  const hear = (pid: Pid, child: ProcessRow, closed: boolean): void => {
    const { colour, sources } = closed ? NO_TAINT : child;
    processes.taint(pid, { colour, label: child.label, sources });
  };

  const of = (pid: Pid): Offspring =>
    Object.freeze<Offspring>({
      spawn: (body: Parameters<Offspring["spawn"]>[0]) => spawn(pid, body),
      async wait(child: number): Promise<TurnResult> {
        const { row, result } = childOf(pid, child);
        const done = await (result ?? NO_RESULT);
        hear(pid, row, false);
        return done;
      },
      async answerWithin(child, { ms, closed }): Promise<TurnResult | undefined> {
        const { row, result } = childOf(pid, child);
        const late = Promise.withResolvers<undefined>();
        const disarm = parts.powers.after(ms, () => late.resolve(undefined));
        const done = await Promise.race([result ?? NO_RESULT, late.promise]).finally(disarm);
        if (done !== undefined) hear(pid, row, closed);
        return done;
      },
      rowOf: (child: number) => childOf(pid, child).row,
      say: (child: number, text: string) => say(pid, child, text),
      kill: (child: number, signal: Signal) => deliver(childOf(pid, child), signal),
    });

  return Object.freeze({
    of,
    adopt: (row: ProcessRow, session: Session) => void join(row, session),
    async signal(pid: Pid, signal: Signal): Promise<boolean> {
      const member = members.get(pid);
      if (member === undefined) return false;
      await deliver(member, signal);
      return true;
    },
    async exhausted(pid: Pid, limit: string): Promise<void> {
      const member = members.get(pid);
      if (member === undefined || member.limit !== undefined) return;
      member.limit = limit;
      await deliver(member, "SIGXCPU");
    },
    readvertise(): void {
      for (const { session } of members.values()) session.capsChanged();
    },
    limitOf: (pid: Pid) => members.get(pid)?.limit,
    killedBy: (pid: Pid) => members.get(pid)?.killed,
    osPids(pid: Pid): readonly number[] {
      const os = members.get(pid)?.session.osPid();
      return os === undefined ? [] : [os];
    },
    async reasonFor(pid: Pid, ...asked: Parameters<ReasonFor>): ReturnType<ReasonFor> {
      return await members.get(pid)?.session.reasonFor(...asked);
    },
    async end(exit: number): Promise<void> {
      for (const { row } of members.values()) processes.end(row.pid, exit);
      await Promise.all([...members.values()].map(({ session }) => session.end()));
      for (const { row } of members.values()) processes.forget(row.pid);
      members.clear();
    },
  });
}

function parseTool(name: string): ToolName {
  const parsed = ToolName.safeParse(name);
  if (!parsed.success) {
    throw new Fault("refused", `Cannot spawn with tool ${JSON.stringify(name)}: no such tool`);
  }
  return parsed.data;
}

/** Tells whether a scope lies in one of `mounts`. */
function isOf({ resource, path }: Scope, mounts: ProcessRow["mounts"]): boolean {
  return resource === "mount" &&
    mounts.some(({ name }) => path === name || path.startsWith(`${name}/`));
}
