/** What the page shows, in the terminal's own words. Every text is made safe to show here. @module */
import {
  type AgentTask,
  type InboxEntry,
  type Json,
  type PageView,
  type Question,
  TaskId,
  toJson,
} from "../../../contracts/mod.ts";
import { digestOf } from "../../../port/digest.ts";
import { displayBlock, displayText } from "../../../text/mod.ts";
import { cell, recordOf } from "../../command.ts";
import { makePaint } from "../../terminal/paint.ts";
import { questionCells } from "../../task/question_commands.ts";
import { expiredWords } from "../../question/waiting.ts";
import { questionLines } from "../../question/question_frame.ts";
import type { ShownChange } from "../../question/shown_content.ts";
import { taskLines } from "../../task/commands.ts";
import { taskCells } from "../../task/list.ts";
import { waitsForRules } from "../other_rules.ts";
import { messagesSection } from "./messages.ts";
import {
  clipped,
  list,
  LONGEST_LINE,
  MOST_LINES,
  type Row,
  type Section,
  text,
  WIDTH,
} from "./sections.ts";

/** Tasks and what waits for a person, as the kernel answers. */
export function homeView(
  { tasks, unfinished, questions, messages, now }: {
    /** The newest, oldest first. */
    readonly tasks: readonly Json[];
    /** All that are not over, oldest first. */
    readonly unfinished: readonly Json[];
    readonly questions: readonly Question[];
    /** That wait to be let in. */
    readonly messages: readonly InboxEntry[];
    readonly now: number;
  },
): PageView {
  // As the log has them: a clock may have been set back.
  const newest = tasks.map(recordOf).toReversed();
  const rows = newest.map((task): Row => ({
    cells: taskCells(task, now),
    ...linkOf(task["id"]),
  }));
  const left = unfinished.map(recordOf).toReversed().filter(waitsForRules).map((task): Row => ({
    cells: [...taskCells(task, now), cell(task["reason"], 300)],
    ...linkOf(task["id"]),
  }));
  const held = messagesSection(messages, now);
  return {
    title: "Tasks and questions",
    sections: [
      waiting(questions, now),
      ...(held === undefined ? [] : [held]),
      ...(left.length === 0 ? [] : [list("unfinished, under other rules", left, "")]),
      list("tasks", rows, "no tasks"),
    ],
  };
}

/** One task, and what of it waits. */
export function taskView(
  { task, questions, staged, now }: {
    readonly task: AgentTask;
    readonly questions: readonly Question[];
    readonly staged: readonly {
      readonly path: string;
      readonly base?: unknown;
      readonly next?: unknown;
    }[];
    readonly now: number;
  },
): PageView {
  const change = (each: (typeof staged)[number]): string =>
    each.base === undefined ? "added" : each.next === undefined ? "deleted" : "changed";
  const changes = staged.map((each): Row => ({
    cells: [change(each), displayText(each.path, { max: 512 })],
  }));
  const words = (raw: string): string[] =>
    displayBlock(raw, { prefix: "", maxLines: 200, columns: WIDTH - 2 });
  return {
    title: `Task ${task.id}`,
    sections: [
      waiting(questions, now),
      text("task", clipped(taskLines(task, now))),
      text("request", words(task.request)),
      ...(task.answer === undefined ? [] : [text("what it said last", words(task.answer))]),
      list("staged changes", changes, "none"),
    ],
  };
}

/** One question, whole. `command` says how it is answered at a terminal. */
export function questionView(
  question: Question,
  { changes, now, command }: {
    readonly changes: readonly ShownChange[];
    readonly now: number;
    readonly command: string;
  },
): PageView {
  const options = { width: WIDTH, paint: makePaint(false), whole: true };
  // Nothing that is said here is remembered.
  const { remember: _session, ...once } = question;
  const lines = questionLines(once, changes, options);
  const state = question.state === "open" && question.expiresAt <= now ? "expired" : question.state;
  const again = state === "expired" ? `; ${expiredWords(question)}` : "";
  const whole = lines.length <= MOST_LINES && lines.every((line) => line.length <= LONGEST_LINE);
  const here = whole && question.kind === "consent" && question.scope.effect !== "admin";
  const shown = digestOf({ question: toJson({ ...question, state }), lines });
  return {
    title: `Question ${question.id}`,
    sections: [
      {
        heading: "of task",
        rows: [{ cells: [question.task], to: question.task }],
        lines: [],
      },
      text(state === "open" ? "what is asked" : `what was asked: it is ${state}${again}`, lines),
    ],
    ...(state === "open" && here ? { answer: { question: question.id, shown } } : {}),
    ...(state === "open" && !here
      ? { elsewhere: `This is not answered here. At your terminal: ${command}`.slice(0, 512) }
      : {}),
  };
}

function waiting(questions: readonly Question[], now: number): Section {
  const rows = questions.map((question): Row => ({
    cells: questionCells(recordOf(toJson(question)), now),
    to: question.id,
  }));
  return list("waiting for you", rows, "nothing waits for you");
}

function linkOf(id: Json | undefined): Pick<Row, "to"> {
  const task = TaskId.safeParse(id);
  return task.success ? { to: task.data } : {};
}
