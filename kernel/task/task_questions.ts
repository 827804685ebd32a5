/** A task's questions end with the task, and are erased with it. Wired in kernel/main_work.ts. @module */
import { QuestionId, TaskId } from "../../contracts/authority/ids.ts";
import { TASK_TRANSITIONS, TaskStatus } from "../../contracts/task/task.ts";
import type { Questions } from "../../contracts/authority/mod.ts";
import type { AgentTask } from "../../contracts/task/mod.ts";
import type { Bus, Published } from "../core/log/watch.ts";

/** The questions, the published events and the tasks' states. */
export interface TaskQuestionsParts {
  readonly questions: Pick<Questions, "open" | "get"> & {
    /** The person has left: waits for an answer end as "queued". */
    queue(task: TaskId): void;
    /** Closes open questions. */
    lapse(which: { readonly task: TaskId }): Promise<void>;
    /** Erases the text of questions and answers. */
    erase(task: TaskId): Promise<void>;
  };
  readonly bus: Pick<Bus, "listen">;
  /** Undefined for an unknown task. */
  statusOf(task: TaskId): TaskStatus | undefined;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
}

/** Questions, as the keeper of tasks sees them. */
export interface TaskQuestions {
  /** Tells whether a question of the task waits for a person. */
  asked(task: TaskId): boolean;
  /** Tells whether the last of these questions expired unanswered. */
  unanswered(questions: AgentTask["questions"]): boolean;
  queueQuestions(task: TaskId): void;
  eraseQuestions(task: TaskId): Promise<void>;
  /** Closes questions of finished tasks, which an earlier kernel left open. */
  tidy(): Promise<void>;
}

/** Makes the keeper, which from now on closes questions when their task ends. */
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
