/** What becomes of a task's questions with the task: they end with it, and are erased with it. @module */
import { QuestionId, TaskId } from "../../contracts/authority/ids.ts";
import { TASK_TRANSITIONS, TaskStatus } from "../../contracts/task/task.ts";
import type { Questions } from "../../contracts/authority/mod.ts";
import type { AgentTask } from "../../contracts/task/mod.ts";
import type { Bus, Published } from "../core/log/watch.ts";

/** What {@link makeTaskQuestions} is handed. */
export interface TaskQuestionsParts {
  readonly questions: Pick<Questions, "open" | "get"> & {
    /** Nobody looks any more: who waits for an answer is told "queued". */
    queue(task: TaskId): void;
    /** Closes the open ones. */
    lapse(which: { readonly task: TaskId }): Promise<void>;
    /** Erases what they say, and what was answered. */
    erase(task: TaskId): Promise<void>;
  };
  readonly bus: Pick<Bus, "listen">;
  /** Undefined for a task that nobody knows. */
  statusOf(task: TaskId): TaskStatus | undefined;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
}

/** Questions, as those who keep tasks know them. */
export interface TaskQuestions {
  /** One waits for a person. */
  asked(task: TaskId): boolean;
  /** Nobody answered the last of these in time. */
  unanswered(questions: AgentTask["questions"]): boolean;
  /** See {@link TaskQuestionsParts}. */
  queueQuestions(task: TaskId): void;
  /** See {@link TaskQuestionsParts}. */
  eraseQuestions(task: TaskId): Promise<void>;
  /** Closes those that an earlier kernel left open as it ended with their task. */
  tidy(): Promise<void>;
}

/** Makes it; from then on questions are closed when their task ends. */
export function makeTaskQuestions(parts: TaskQuestionsParts): TaskQuestions {
  const { questions, note } = parts;
  const lapse = (task: TaskId): Promise<void> =>
    questions.lapse({ task }).catch((error: unknown) =>
      note(`Questions of ${task} were not closed: ${String(error)}`)
    );
  parts.bus.listen(undefined, (event) => {
    const task = endedIn(event);
    if (task !== undefined) void lapse(task);
  });
  return Object.freeze<TaskQuestions>({
    asked: (task) => questions.open(task).length > 0,
    unanswered(asked): boolean {
      const last = QuestionId.safeParse(asked.at(-1));
      return last.success && questions.get(last.data)?.state === "expired";
    },
    queueQuestions: questions.queue,
    eraseQuestions: questions.erase,
    async tidy(): Promise<void> {
      const over = questions.open().map(({ task }) => task).filter((task) => {
        const status = parts.statusOf(task);
        return status !== undefined && isOver(status);
      });
      for (const task of new Set(over)) await lapse(task);
    },
  });
}

function isOver(status: TaskStatus): boolean {
  return TASK_TRANSITIONS[status].length === 0;
}

function endedIn({ task, kind, body }: Published): TaskId | undefined {
  if (kind !== "taskStatus") return undefined;
  const id = TaskId.safeParse(task), status = TaskStatus.safeParse(body["status"]);
  return id.success && status.success && isOver(status.data) ? id.data : undefined;
}
