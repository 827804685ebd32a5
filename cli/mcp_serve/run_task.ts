/** `run_task` of a host: a task of its own, followed to its end. @module */
import {
  AgentTask,
  CallId,
  type Question,
  Question as QuestionSchema,
  type ServeResult,
  type TaskId,
} from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { subjectOf, textOf } from "../audit/event_fields.ts";
import type { KernelLink } from "../hands.ts";
import { tellingOf, type TellingParts } from "./result.ts";
import { toldProgress } from "./told_progress.ts";
import { askStaged, type WatchEnd, watchTask } from "../run/watch_task.ts";

/** A task under way. */
export interface RunningHostTask {
  readonly task: TaskId;
  /** What its host is told: at its end, or when it waits for a person and `waitMs` are over. */
  result(waitMs: number): Promise<ServeResult>;
  cancel(): Promise<void>;
  close(): void;
}

/** What following is made of. */
export interface RunTaskParts {
  readonly link: KernelLink;
  readonly task: TaskId;
  readonly telling: Omit<TellingParts, "task">;
  onProgress(text: string): void;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** The id of a call that there is none of. */
const QUIET_CALL = CallId.parse("run_task");

/** Follows a task that was just created. */
export async function followHostTask(parts: RunTaskParts): Promise<RunningHostTask> {
  const { link, task, telling } = parts;
  let question: Question | undefined;
  const watch = await watchTask(link, task, {
    from: 0,
    onSeen(seen): void {
      if (seen.kind !== "event") return;
      const { event } = seen;
      if (event.event === "questionAsked") {
        question = QuestionSchema.safeParse(event.private["question"]).data;
      }
      if (event.event === "intent" || event.event === "refused") {
        const tool = textOf(event, "tool");
        // TRUST: a model's words, which may be what it has read.
        const what = toldProgress(`${tool} ${subjectOf(event)}`.trim(), {
          ...{ label: event.body["label"], clearance: telling.clearance, instead: tool },
        });
        parts.onProgress(
          `${event.event === "intent" ? "" : "refused: "}${displayText(what, { max: 200 })}`,
        );
      }
    },
  });
  let last: WatchEnd | undefined;
  const follow = async (): Promise<WatchEnd> => {
    last = await watch.next();
    // The kernel goes on with it when the answer is there.
    if (last.status === "needsApproval") {
      next = follow();
      next.catch(() => undefined);
    }
    return last;
  };
  let next = follow();

  const ended = async (): Promise<ServeResult> => {
    const { status, answer = "", reason, colour, label } = AgentTask.parse(
      await link.ask("task", { task }),
    );
    const ok = status === "done";
    return tellingOf({
      kind: "done",
      called: {
        callId: QUIET_CALL,
        outcome: ok ? "ok" : status === "cancelled" ? "cancelled" : "executionError",
        content: answer,
        ...(ok
          ? {}
          : { error: `The task is ${status}${reason === undefined ? "" : `: ${reason}`}` }),
        ...{ colour, label },
      },
    }, { ...telling, task });
  };

  return Object.freeze<RunningHostTask>({
    task,
    async result(waitMs): Promise<ServeResult> {
      let end = last ?? await next;
      if (end.status !== "needsApproval" || question === undefined) return await ended();
      const waiting = tellingOf({
        ...{ kind: "waiting", question },
        ...(question.changes.length === 0
          ? {}
          : { content: (await askStaged(link, task)).content }),
      }, { ...telling, task });
      parts.onProgress(`waits for a person: question ${question.id}`);
      if (waitMs === 0) return waiting;
      const done = new AbortController();
      try {
        const late = parts.pause(waitMs, done.signal).then(() => end);
        end = await Promise.race([next, late]);
      } finally {
        done.abort();
      }
      return end.status === "needsApproval" ? waiting : await ended();
    },
    async cancel(): Promise<void> {
      await link.ask("cancel", { task });
    },
    close: () => link.close(),
  });
}
