/** A task with running processes: its turns, its review, its end. Used by task_host.ts. @module */
import type { TaskId } from "../../contracts/authority/mod.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import type {
  HostedTask,
  ProcessRow,
  ReviewOutcome,
  TaskRequest,
  TurnOutcome,
  UsedUp,
} from "../../contracts/task/mod.ts";
import type { TaskTime } from "../core/lease/task_time.ts";
import { sourcesOf } from "../core/log/read_events.ts";
import type { ProcessTable } from "../core/process/table.ts";
import type { Family } from "./family.ts";
import { type IntakeParts, isTakenIn, takeIn } from "./intake.ts";
import type { Replay } from "./replay.ts";
import type { TornPatches } from "./review.ts";
import type { Session } from "./session/session.ts";
import type { TaskWorkspace } from "./workspace.ts";

/** The processes, workspace and replay of one task. */
interface HostedTaskParts {
  readonly request: Pick<TaskRequest, "onQuestion" | "intake">;
  /** The root process and its session. */
  readonly row: ProcessRow;
  readonly root: Pick<Session, "turn" | "interrupt" | "consult">;
  readonly log: IntakeParts["log"];
  readonly gate: IntakeParts["gate"];
  readonly declare: IntakeParts["declare"];
  readonly narrow: IntakeParts["narrow"];
  readonly processes: Pick<ProcessTable, "setTurn" | "taint" | "setOnQuestion">;
  readonly family: Pick<Family, "killedBy" | "limitOf">;
  readonly time: Pick<TaskTime, "turn">;
  readonly workspace: Pick<TaskWorkspace, "unfinished" | "staged" | "undo">;
  readonly torn: Pick<TornPatches, "settle">;
  /** Called with each message that starts a turn. */
  said(message: ChatMessage): void;
  /** The task's state from its log, where an earlier kernel ran it. */
  readonly replay: Replay | undefined;
  /** Folder of staged contents. */
  readonly content: string;
  readonly review: HostedTask["review"];
  /** The limit that stopped a foreign agent, if any. */
  spentByAgent(): string | undefined;
  /** The person has left: turns open questions into queued ones. */
  queueQuestions(task: TaskId): void;
  /** Settles a half-applied patch, ends the processes, releases leases and models. */
  readonly end: HostedTask["end"];
}

/** Makes the task. `unfinished`: an earlier kernel left a turn, an answer or a patch half done. */
export function makeHostedTask(
  parts: HostedTaskParts,
): { readonly hosted: HostedTask; readonly unfinished: boolean } {
  const { row, root, processes, family, workspace, torn, replay } = parts;
  const before = replay?.conversation ?? [];
  let pending = replay?.pending;
  const unfinished = pending !== undefined || !isAnswered(before) || workspace.unfinished();
  let first = true;
  // A fork continues a conversation and needs no intake.
  let needsIntake = parts.request.intake === true && replay?.fork === undefined &&
    !isTakenIn(replay);

  const hosted: HostedTask = {
    async turn(message): Promise<TurnOutcome & UsedUp> {
      const next = message ?? pending;
      // A task that waited only for its review needs no inference.
      if (first && next === undefined && !unfinished) return answered(before);
      if (first && replay?.brakeDenied === true) return { stop: "brake", text: "" };
      if (!first && next !== undefined) await parts.time.turn();
      first = false;
      pending = undefined;
      if (next !== undefined) {
        parts.said(next);
        processes.setTurn(row.pid, row.turn + 1);
        // A message taints the process like everything else that it reads.
        processes.taint(row.pid, { ...next.provenance, sources: sourcesOf(next) });
      }
      const over = needsIntake && next !== undefined
        ? await takeIn({ ...parts, session: root }, next)
        : undefined;
      needsIntake &&= over !== undefined;
      const end = over ?? await root.turn(next);
      const killed = family.killedBy(row.pid);
      const spent = parts.spentByAgent();
      const limit = family.limitOf(row.pid) ?? spent;
      // Text from before the refusal is still the agent's answer.
      if (spent !== undefined && end.stop === "answered") {
        return { stop: "budget", text: end.text, limit: spent };
      }
      const outcome: TurnOutcome = killed === undefined
        ? end
        : { stop: "killed", exit: killed.exit, text: `ended by ${killed.signal}` };
      return limit === undefined ? outcome : { ...outcome, limit };
    },
    async review(begins): Promise<ReviewOutcome> {
      const outcome = await parts.review(begins);
      if (outcome.kind !== "waiting") await torn.settle();
      return outcome;
    },
    interrupt: () => root.interrupt(),
    unattended(): void {
      if (row.onQuestion !== "ask" || row.status === "ended") return;
      processes.setOnQuestion(row.pid, "queue");
      parts.queueQuestions(row.task);
    },
    attended(): void {
      if (row.status !== "ended") processes.setOnQuestion(row.pid, parts.request.onQuestion);
    },
    staged: () => workspace.staged(parts.content),
    undo: (files) => workspace.undo(row, files),
    end: parts.end,
  };
  return { hosted, unfinished };
}

function isAnswered(conversation: readonly ChatMessage[]): boolean {
  const last = conversation.at(-1);
  return last?.role === "assistant" && (last.toolCalls ?? []).length === 0;
}

function answered(conversation: readonly ChatMessage[]): TurnOutcome {
  return { stop: "answered", text: conversation.at(-1)?.content ?? "" };
}
