/** A task under way, as the service has it: its turns, its review, its end. @module */
import {
  type ChatMessage,
  type HostedTask,
  type ProcessRow,
  type ReviewOutcome,
  type TaskId,
  type TaskRequest,
  type TurnOutcome,
  type UsedUp,
} from "../../contracts/mod.ts";
import type { TaskTime } from "../lease/task_time.ts";
import type { Replay } from "../log/replay.ts";
import { sourcesOf } from "../log/replay_records.ts";
import type { ProcessTable } from "../process/table.ts";
import type { Session } from "../session/session.ts";
import type { Family } from "./family.ts";
import type { TornPatches } from "./torn_patch.ts";
import type { TaskWorkspace } from "./workspace.ts";

/** What {@link makeHostedTask} is handed. */
export interface HostedTaskParts {
  readonly request: Pick<TaskRequest, "onQuestion">;
  /** Its root process, and that process's session. */
  readonly row: ProcessRow;
  readonly root: Pick<Session, "turn" | "interrupt">;
  readonly processes: Pick<ProcessTable, "setTurn" | "taint" | "setOnQuestion">;
  readonly family: Pick<Family, "killedBy" | "limitOf">;
  readonly time: Pick<TaskTime, "turn">;
  readonly workspace: Pick<TaskWorkspace, "unfinished" | "staged" | "undo">;
  readonly torn: Pick<TornPatches, "settle">;
  /** What the log says of it, where it was taken up again. */
  readonly replay: Replay | undefined;
  /** Folder of what is staged. */
  readonly content: string;
  readonly review: HostedTask["review"];
  /** Nobody looks any more: wakes whoever waits for an answer of this task. */
  queueQuestions(task: TaskId): void;
  /** Ends its processes, puts back what was not applied again, and frees what was held. */
  readonly end: HostedTask["end"];
}

/** Makes it, and says whether an earlier kernel left something of it undone. */
export function makeHostedTask(
  parts: HostedTaskParts,
): { readonly hosted: HostedTask; readonly unfinished: boolean } {
  const { row, root, processes, family, workspace, torn, replay } = parts;
  const before = replay?.conversation ?? [];
  let pending = replay?.pending;
  const unfinished = pending !== undefined || !isAnswered(before) || workspace.unfinished();
  let first = true;

  const hosted: HostedTask = {
    async turn(message): Promise<TurnOutcome & UsedUp> {
      const next = message ?? pending;
      // A task that waited only for its review has nothing more to infer.
      if (first && next === undefined && !unfinished) return answered(before);
      if (first && replay?.brakeDenied === true) return { stop: "brake", text: "" };
      if (!first && next !== undefined) await parts.time.turn();
      first = false;
      pending = undefined;
      if (next !== undefined) {
        processes.setTurn(row.pid, row.turn + 1);
        // What others said is read by the process like anything else that it reads.
        processes.taint(row.pid, { ...next.provenance, sources: sourcesOf(next) });
      }
      const end = await root.turn(next);
      const killed = family.killedBy(row.pid);
      const limit = family.limitOf(row.pid);
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
