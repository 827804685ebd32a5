/** A task that has its processes: its turns, its review, its end. @module */
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

/** What {@link makeHostedTask} is handed. */
interface HostedTaskParts {
  readonly request: Pick<TaskRequest, "onQuestion" | "intake">;
  /** Its root process, and that process's session. */
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
  /** Called with each message that begins a turn. */
  said(message: ChatMessage): void;
  /** What the log says of it, where it was taken up again. */
  readonly replay: Replay | undefined;
  /** Folder of what is staged. */
  readonly content: string;
  readonly review: HostedTask["review"];
  /** The limit at which a foreign agent stopped, if it did. */
  spentByAgent(): string | undefined;
  /** The person has gone: turns the open question into a queued one. */
  queueQuestions(task: TaskId): void;
  /** Settles a half-applied patch, ends the processes, releases leases and models. */
  readonly end: HostedTask["end"];
}

/** Makes it. `unfinished`: an earlier kernel left a turn, an answer or a patch half done. */
export function makeHostedTask(
  parts: HostedTaskParts,
): { readonly hosted: HostedTask; readonly unfinished: boolean } {
  const { row, root, processes, family, workspace, torn, replay } = parts;
  const before = replay?.conversation ?? [];
  let pending = replay?.pending;
  const unfinished = pending !== undefined || !isAnswered(before) || workspace.unfinished();
  let first = true;
  // A fork goes on with what was said, and begins no task.
  let takesIn = parts.request.intake === true && replay?.fork === undefined && !isTakenIn(replay);

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
        parts.said(next);
        processes.setTurn(row.pid, row.turn + 1);
        // What others said is read by the process like anything else that it reads.
        processes.taint(row.pid, { ...next.provenance, sources: sourcesOf(next) });
      }
      const over = takesIn && next !== undefined
        ? await takeIn({ ...parts, session: root }, next)
        : undefined;
      takesIn &&= over !== undefined;
      const end = over ?? await root.turn(next);
      const killed = family.killedBy(row.pid);
      const spent = parts.spentByAgent();
      const limit = family.limitOf(row.pid) ?? spent;
      // What it said before it was refused is its answer all the same.
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
