/** What the page shows, in the terminal's own words. Every text is made safe to show here. Issue 7. @module */
import {
  type AgentTask,
  type Json,
  type PageView,
  type Question,
  TaskId,
  toJson,
} from "../../contracts/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { hardWrap } from "../columns.ts";
import { recordOf } from "../command.ts";
import { makePaint } from "../paint.ts";
import { questionCells } from "../question_commands.ts";
import { questionLines } from "../question_frame.ts";
import type { ShownChange } from "../shown_content.ts";
import { taskCells, taskLines } from "../task_commands.ts";

/** Columns of text: what a phone shows without scrolling. */
const WIDTH = 60;
/** Rows of a list. */
const MOST_ROWS = 200;
/** Lines of one section, as the wire takes them. */
const MOST_LINES = 5_000;
const LONGEST_LINE = 8_192;

type Section = PageView["sections"][number];
type Row = Section["rows"][number];

/** Tasks and what waits for a person. `tasks` and `questions` are the kernel's answers. */
export function homeView(
  { tasks, questions, now }: {
    readonly tasks: readonly Json[];
    readonly questions: readonly Question[];
    readonly now: number;
  },
): PageView {
  const newest = tasks.map(recordOf).toSorted((a, b) =>
    Number(b["createdAt"] ?? 0) - Number(a["createdAt"] ?? 0)
  );
  const rows = newest.slice(0, MOST_ROWS).map((task): Row => ({
    cells: taskCells(task, now),
    ...linkOf(task["id"]),
  }));
  return {
    title: "Tasks and questions",
    sections: [
      waiting(questions, now),
      list("tasks", rows, newest.length, "no tasks"),
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
      text("task", taskLines(task, now).flatMap(wrapped)),
      text("request", words(task.request)),
      ...(task.answer === undefined ? [] : [text("what it said last", words(task.answer))]),
      list("staged changes", changes.slice(0, MOST_ROWS), changes.length, "none"),
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
      text(state === "open" ? "what is asked" : `what was asked: it is ${state}`, lines),
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
  return list("waiting for you", rows.slice(0, MOST_ROWS), rows.length, "nothing waits for you");
}

/** A field's line; what does not fit goes on beneath its value, marked, so that it looks like no field. */
function wrapped(line: string): string[] {
  const [first = ""] = hardWrap(line, WIDTH);
  const rest = line.slice(first.length);
  if (rest === "") return [line];
  return [first, ...hardWrap(rest, WIDTH - 14).map((piece) => `${" ".repeat(12)}↪ ${piece}`)];
}

function linkOf(id: Json | undefined): Pick<Row, "to"> {
  const task = TaskId.safeParse(id);
  return task.success ? { to: task.data } : {};
}

function list(heading: string, rows: readonly Row[], all: number, none: string): Section {
  const more = all > rows.length
    ? [`and ${all - rows.length} more: see them at your terminal`]
    : [];
  return { heading, rows: [...rows], lines: rows.length === 0 ? [none] : more };
}

function text(heading: string, lines: readonly string[]): Section {
  return {
    heading,
    rows: [],
    lines: lines.slice(0, MOST_LINES).map((line) => line.slice(0, LONGEST_LINE)),
  };
}
