/**
 * The processes of one task: a root and its children. A process signals only its own children, a
 * child holds a subset of its parent, killing a parent leaves no orphan. DESIGN section 5.
 * @module
 */
import {
  type AgentTask,
  type ChatMessage,
  EXIT,
  Fault,
  type Pid,
  type ProcessRow,
  type Signal,
  type TaskRequest,
  type TurnEnd,
} from "../contracts/mod.ts";
import type { OpenModel } from "./model_services.ts";
import { systemMessage } from "./persona.ts";
import { makeSession, type Offspring, type Session, type SessionTurn } from "./session.ts";
import type { TaskHostParts } from "./task_host.ts";
import type { TaskWorkspace } from "./task_workspace.ts";

/** What {@link makeFamily} is handed. */
export interface FamilyParts extends TaskHostParts {
  readonly task: AgentTask;
  readonly request: TaskRequest;
  readonly model: OpenModel;
}

/** A task's processes. */
export interface Family {
  /** What the process may do with children. */
  of(pid: Pid): Offspring;
  adopt(row: ProcessRow, session: Session): void;
  /** Delivers a signal; false when the process is not of this family. */
  signal(pid: Pid, signal: Signal): Promise<boolean>;
  osPids(pid: Pid): readonly number[];
  end(exit: number): Promise<void>;
}

interface Member {
  readonly row: ProcessRow;
  readonly session: Session;
  readonly result?: Promise<{ readonly exit: number; readonly text: string }>;
}

/** Exit code of a child by how its turn ended. */
const EXIT_OF: Readonly<Record<SessionTurn["stop"], number>> = {
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
} satisfies Record<TurnEnd["stop"] | "waiting", number>;

/** Makes an empty family. */
export function makeFamily(
  parts: Omit<FamilyParts, "workspace"> & { readonly workspace: TaskWorkspace },
): Family {
  const members = new Map<Pid, Member>();

  const childOf = (parent: Pid, pid: number): Member => {
    const found = [...members.values()].find((each) =>
      each.row.pid === pid && each.row.ppid === parent
    );
    if (found === undefined) {
      throw new Fault(
        "refused",
        `Cannot reach process ${pid}: it is not a child of process ${parent}`,
      );
    }
    return found;
  };

  const subtree = (pid: Pid): readonly Member[] => {
    const below = [...members.values()].filter((each) => each.row.ppid === pid);
    return below.flatMap((each) => [each, ...subtree(each.row.pid)]);
  };

  const endOne = async (member: Member, exit: number): Promise<void> => {
    if (member.row.status !== "ended") parts.processes.end(member.row.pid, exit);
    await member.session.end();
  };

  const spawn = async (
    parent: Pid,
    body: Parameters<Offspring["spawn"]>[0],
  ): Promise<number> => {
    const row = parts.processes.deriveChild(parent, {
      spec: "child",
      capabilities: body.tools.map((tool) => ({ tool })),
      limits: body.limits,
    });
    for (const lease of parts.leases.list(parts.task.id)) {
      if (lease.pid !== parent || !parts.leases.alive(lease.id)) continue;
      await parts.leases.derive(lease.id, {
        pid: row.pid,
        scope: lease.scope,
        expiresAt: lease.expiresAt,
        reason: `a child of process ${parent}`,
      });
    }
    const session = makeSession({
      ...parts,
      row,
      model: parts.model,
      modelRefused: (each) =>
        parts.modelRefused(each, { ref: parts.request.model.ref, remote: parts.model.info.remote }),
      conversation: [systemMessage(parts.request)],
      offspring: of(row.pid),
      onText: () => undefined,
    });
    const message: ChatMessage = {
      role: "user",
      content: body.persona === "" ? body.request : `${body.persona}\n\n${body.request}`,
      provenance: {
        origin: "agent",
        source: `process ${parent}`,
        colour: row.colour,
        label: row.label,
      },
    };
    parts.processes.setTurn(row.pid, 1);
    const result = session.turn(message).then(
      (turn) => ({ exit: EXIT_OF[turn.stop], text: turn.text }),
      (error: unknown) => ({
        exit: EXIT.failure,
        text: error instanceof Fault ? error.message : "a bug ended it",
      }),
    ).then(async (done) => {
      await endOne({ row, session }, done.exit);
      members.get(parent)?.session.signal("SIGCHLD");
      return done;
    });
    members.set(row.pid, { row, session, result });
    return row.pid;
  };

  const of = (pid: Pid): Offspring =>
    Object.freeze({
      spawn: (body: Parameters<Offspring["spawn"]>[0]) => spawn(pid, body),
      async wait(child: number): Promise<{ exit: number; text: string }> {
        const member = childOf(pid, child);
        const done = await (member.result ?? Promise.resolve({ exit: EXIT.failure, text: "" }));
        // What a child says keeps the child's colour, and it falls on who reads it.
        parts.processes.taint(pid, {
          colour: member.row.colour,
          label: member.row.label,
          sources: member.row.sources,
        });
        return done;
      },
      kill: (child: number, signal: Signal) => deliver(childOf(pid, child), signal),
    });

  const deliver = async (member: Member, signal: Signal): Promise<void> => {
    if (signal === "SIGSTOP") parts.processes.setStatus(member.row.pid, "stopped");
    if (signal === "SIGCONT") parts.processes.setStatus(member.row.pid, "running");
    if (signal === "SIGINT") member.session.interrupt();
    await parts.log.append(member.row.task, [{
      kind: "signalled",
      body: { pid: member.row.pid, signal },
    }]);
    if (signal !== "SIGKILL") {
      member.session.signal(signal);
      return;
    }
    for (const each of [...subtree(member.row.pid), member]) await endOne(each, EXIT.failure);
  };

  return Object.freeze({
    of,
    adopt(row: ProcessRow, session: Session): void {
      members.set(row.pid, { row, session });
    },
    async signal(pid: Pid, signal: Signal): Promise<boolean> {
      const member = members.get(pid);
      if (member === undefined) return false;
      await deliver(member, signal);
      return true;
    },
    osPids(pid: Pid): readonly number[] {
      const os = members.get(pid)?.session.osPid();
      return os === undefined ? [] : [os];
    },
    async end(exit: number): Promise<void> {
      await Promise.all([...members.values()].map((each) => endOne(each, exit)));
      members.clear();
    },
  });
}
