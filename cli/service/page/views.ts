/**
 * The page's views, in the terminal's words. Every text is made safe to show here.
 * @module
 */
import { type Question, TaskId } from "../../../contracts/authority/mod.ts";
import { type Json, toJson } from "../../../contracts/base/mod.ts";
import type { InboxEntry } from "../../../contracts/exchange/mod.ts";
import {
  AgentTask,
  OTHER_RULES,
  TASK_TRANSITIONS,
  TaskStatus,
} from "../../../contracts/task/mod.ts";
import type { PageView } from "../../../contracts/wire/mod.ts";
import { cell, recordOf, rowsOf } from "../../command.ts";
import { hardWrap } from "../../terminal/columns.ts";
import { entryLines, gistOf } from "../../inbox/inbox_words.ts";
import { spanText } from "../../terminal/span.ts";
import { digestOf } from "../../../port/digest.ts";
import { displayBlock, displayText } from "../../../text/mod.ts";
import { makePaint } from "../../terminal/paint.ts";
import { questionCells } from "../../task/question_commands.ts";
import { expiredWords } from "../../question/waiting.ts";
import { questionLines } from "../../question/question_frame.ts";
import type { ShownChange } from "../../question/shown_content.ts";
import { taskLines } from "../../task/commands.ts";
import { taskCells } from "../../task/list.ts";

/** The statuses of a task that has not ended. */
export const UNFINISHED: readonly TaskStatus[] = TaskStatus.options.filter((each) =>
  TASK_TRANSITIONS[each].length > 0
);

/** Whether a kernel's task waits because the rules have changed. */
function waitsForRules({ reason }: Readonly<Record<string, Json>>): boolean {
  return typeof reason === "string" && reason.startsWith(OTHER_RULES);
}

/** Tasks that an earlier kernel left under other rules, and that wait for their operator. */
export async function tasksOfOtherRules(
  link: { ask(op: string, body: Json): Promise<Json> },
): Promise<readonly TaskId[]> {
  const tasks = rowsOf(await link.ask("tasks", { statuses: [...UNFINISHED] }));
  return tasks.filter(waitsForRules).map(({ id }) => AgentTask.shape.id.parse(id));
}

/** Columns of text that a phone shows without scrolling. */
const WIDTH = 60;
/** Rows of a list. */
const MAX_ROWS = 200;
/** The wire's limit for lines of one section. */
const MAX_LINES = 5_000;
/** The wire's limit for UTF-16 units of a line. */
const MAX_LINE = 8_192;

/** A part of a view. */
export type Section = PageView["sections"][number];
/** A line of a list. */
export type Row = Section["rows"][number];

/** A list: `none` if it is empty, and a count of the rest if it is long. */
function list(heading: string, rows: readonly Row[], none: string): Section {
  const shown = rows.slice(0, MAX_ROWS);
  const more = rows.length > shown.length
    ? [`and ${rows.length - shown.length} more: see them at your terminal`]
    : [];
  return { heading, rows: shown, lines: shown.length === 0 ? [none] : more };
}

/** A section of unchanged lines. */
function text(heading: string, lines: readonly string[]): Section {
  return {
    heading,
    rows: [],
    lines: lines.slice(0, MAX_LINES).map((line) => line.slice(0, MAX_LINE)),
  };
}

/** Wraps the lines of fields; continuations are marked, so that they look like no field. */
function clipped(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [first = ""] = hardWrap(line, WIDTH);
    const rest = line.slice(first.length);
    if (rest === "") return [line];
    return [first, ...hardWrap(rest, WIDTH - 14).map((piece) => `${" ".repeat(12)}↪ ${piece}`)];
  });
}

// Messages are decided at the terminal: a peer's message came through the gateway that serves the
// page, and a channel does not answer its own requests (docs/decision/0019).

/** States of a message that a person decides about. */
export const UNDECIDED = ["held", "quarantined"] as const;

/** The waiting messages, newest first; undefined without any. */
function messagesSection(
  messages: readonly InboxEntry[],
  now: number,
): PageView["sections"][number] | undefined {
  if (messages.length === 0) return undefined;
  const rows = messages.toSorted((a, b) => b.n - a.n).map((entry) => ({
    cells: [
      entry.id,
      entry.state,
      cell(entry.message.sender),
      entry.message.kind,
      spanText(now - entry.receivedAt),
      gistOf(entry),
    ],
    to: entry.id,
  }));
  return list("messages that wait to be let in", rows, "");
}

/** A whole message. `command` turns words after `remit` into a terminal's line. */
export function messageView(
  entry: InboxEntry,
  { now, command }: { readonly now: number; readonly command: (words: string) => string },
): PageView {
  const waits = UNDECIDED.some((state) => state === entry.state);
  return {
    title: `Message ${entry.id}`,
    sections: [
      ...(entry.task === undefined
        ? []
        : [{ heading: "became task", rows: [{ cells: [entry.task], to: entry.task }], lines: [] }]),
      text("what came", clipped(entryLines(entry, now))),
    ],
    ...(waits
      ? {
        elsewhere: `This is not decided here. At your terminal: ${
          command(`inbox release ${entry.id}`)
        } lets it in, ${command(`inbox dismiss ${entry.id}`)} does not.`.slice(0, 512),
      }
      : {}),
  };
}

/** The kernel's tasks, and all that waits for a person. */
export function homeView(
  { tasks, unfinished, questions, messages, now }: {
    /** The newest, oldest first. */
    readonly tasks: readonly Json[];
    /** All open ones, oldest first. */
    readonly unfinished: readonly Json[];
    readonly questions: readonly Question[];
    /** Messages that wait for a decision. */
    readonly messages: readonly InboxEntry[];
    readonly now: number;
  },
): PageView {
  // In the log's order: a clock may have been set back.
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

/** A task with its waiting questions. */
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

/** A whole question. `command`: the terminal's line that answers it. */
export function questionView(
  question: Question,
  { changes, now, command }: {
    readonly changes: readonly ShownChange[];
    readonly now: number;
    readonly command: string;
  },
): PageView {
  const options = { width: WIDTH, paint: makePaint(false), whole: true };
  // Answers here do not create lasting permissions.
  const { remember: _session, ...once } = question;
  const lines = questionLines(once, changes, options);
  const state = question.state === "open" && question.expiresAt <= now ? "expired" : question.state;
  const again = state === "expired" ? `; ${expiredWords(question)}` : "";
  const whole = lines.length <= MAX_LINES && lines.every((line) => line.length <= MAX_LINE);
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
