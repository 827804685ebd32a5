/**
 * Draws a question in a frame that untrusted text cannot imitate: every line begins with `┃`, every untrusted line with
 * `┃   │`, and no line is long enough for the terminal to wrap.
 * @module
 */
import type { Digest, Question, Source } from "../../contracts/authority/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { exactWrap, hardWrap, wordWrap } from "../terminal/columns.ts";
import { drawElicit } from "./elicit_frame.ts";
import type { Paint } from "../terminal/paint.ts";
import { coverWords, earlierLines } from "./earlier_lines.ts";
import { planLines } from "./plan_frame.ts";
import { makeDiffPaint } from "./diff_paint.ts";
import type { ShownChange } from "./shown_content.ts";
import type { ValueOrigin } from "../../contracts/authority/origin.ts";
import type { Json } from "../../contracts/base/mod.ts";
import { standsIn } from "../../text/stands_in.ts";

/** How to draw a frame. */
export interface FrameOptions {
  readonly width: number;
  readonly paint: Paint;
  /** Show every line, however many. */
  readonly whole: boolean;
  /** Most lines of one block; absent: the default of each block. */
  readonly maxLines?: number;
  /** The person's own request at the start of the task; absent where someone else wrote the request. */
  readonly request?: string | undefined;
}

const FILE_LINES = 60;
const ARGUMENT_LINES = 24;
const PLAN_LINES = 120;
/** Display without cuts. */
const WHOLE = { prefix: "", max: 1_000_000, maxLines: 100_000, columns: 1_000_000 };

const TITLES: Readonly<Record<Question["kind"], string>> = {
  consent: "Remit asks for your consent",
  stepUp: "Remit asks for your passphrase: this is grave",
  recovery: "Remit asks after a crash: was this done? Do it again?",
  budget: "Remit asks for more budget",
  brake: "Remit asks: money is being spent fast",
  elicit: "An UNTRUSTED server asks you",
};

const DECLARED: Readonly<Record<NonNullable<Question["declared"]>, string>> = {
  declared:
    "yes: the agent said that your request needs this tool, before it read what others wrote",
  usedUp: "no more: it was called as often as the agent said that your request needs it",
  other: "no: the agent said which tools your request needs, and this is none of them",
  none: "the agent did not say which tools your request needs",
};

/** Digests of the new contents whose every changed line the frame shows. */
export function shownWhole(
  changes: readonly ShownChange[],
  whole: boolean,
  maxLines = FILE_LINES,
): Digest[] {
  return changes.flatMap((change) =>
    change.whole !== undefined && (whole || change.lines.length <= Math.min(maxLines, FILE_LINES))
      ? [change.whole]
      : []
  );
}

/** Block sizes to try, one after the other, until a frame fits. */
const BLOCK_SIZES = [FILE_LINES, 24, 12, 8, 5, 3, 2, 1, 0];

/**
 * Draws a question in `rows` rows, so that its headline and the choices under it are visible at once. Blocks are cut with
 * a note; if the fields still do not fit, the last ones are left out.
 */
export function fittingLines(
  question: Question,
  changes: readonly ShownChange[],
  { rows, ...options }: Omit<FrameOptions, "whole" | "maxLines"> & {
    readonly rows: number | undefined;
  },
): {
  readonly lines: readonly string[];
  readonly maxLines: number;
} {
  const drawn = (maxLines: number): string[] =>
    questionLines(question, changes, { ...options, whole: false, maxLines });
  if (rows === undefined) return { lines: drawn(FILE_LINES), maxLines: FILE_LINES };
  for (const maxLines of BLOCK_SIZES) {
    const lines = drawn(maxLines);
    if (lines.length <= rows) return { lines, maxLines };
  }
  const lines = drawn(0);
  const kept = lines.slice(0, Math.max(3, rows - 2));
  const left = lines.length - kept.length - 1;
  const note = `${options.paint.yellow("┃")}     … ${left} more lines: type d to see them all`;
  return { lines: [...kept, note, lines.at(-1) ?? ""], maxLines: 0 };
}

function untrustedSources(sources: readonly Source[]): readonly Source[] {
  return sources.filter((each) => each.colour !== "BLUE");
}

/** Draws a question. The caller has read and hashed `changes`. */
export function questionLines(
  question: Question,
  changes: readonly ShownChange[],
  options: FrameOptions,
): string[] {
  const { width, paint, whole } = options;
  const bar = paint.yellow("┃");
  const lines: string[] = [];
  const own = (text = ""): void => {
    for (const piece of hardWrap(text, width - 3)) lines.push(`${bar} ${piece}`.trimEnd());
  };
  const field = (name: string, text: string): void => {
    const [first = "", ...more] = wordWrap(text, width - 16);
    lines.push(`${bar} ${paint.dim(name.padEnd(11))} ${first}`.trimEnd());
    for (const piece of more) lines.push(`${bar} ${" ".repeat(11)} ${piece}`.trimEnd());
  };
  const untrusted = (text: string, colour: (line: string) => string = (line) => line): void => {
    const pieces = exactWrap(text, width - 9);
    const paintLike = (piece: string): string =>
      pieces.length === 1 ? colour(piece) : paintAs(text, piece, colour);
    pieces.forEach((piece, n) => {
      // A continuation must not look like a line of its own.
      const mark = n === 0 ? "│" : "│ ↪";
      lines.push(`${bar}   ${paint.dim(mark)} ${paintLike(piece)}`.trimEnd());
    });
  };
  const block = (raw: readonly string[], max: number, colour?: (line: string) => string): void => {
    const shown = whole ? raw : raw.slice(0, Math.min(max, options.maxLines ?? max));
    for (const line of shown) untrusted(line, colour);
    const rest = raw.length - shown.length;
    if (rest > 0) own(`    … ${rest} more lines: type d to see them all`);
  };

  const title = ` ${TITLES[question.kind]} (question ${question.asked} of this task) `;
  lines.push(paint.yellow(`┏━${title}${"━".repeat(Math.max(2, width - title.length - 3))}`));
  for (const piece of wordWrap(displayText(question.summary, { max: 1_024 }), width - 3)) {
    lines.push(`${bar} ${paint.bold(piece)}`.trimEnd());
  }
  own();
  field("tool", `${question.scope.tool}  (${question.scope.effect})`);
  if (question.agents !== undefined) {
    field("asked by", displayText(question.agents.join(" › "), { max: 400 }));
  }
  if (question.scope.destination !== undefined) {
    field("sends to", displayText(question.scope.destination, { max: 2_048 }));
  }
  if (question.plan !== undefined) {
    if (options.request !== undefined) {
      field("you asked", displayText(options.request, { max: 300 }));
    }
    field("may call", "this, and nothing else in this task:");
    const planned = planLines(question.plan);
    const room = whole ? planned.length : Math.min(options.maxLines ?? PLAN_LINES, PLAN_LINES);
    for (const { text, look } of planned.slice(0, room)) {
      untrusted(text, look ? paint.yellow : undefined);
    }
    if (planned.length > room) {
      own(`    … ${planned.length - room} more lines: type d to see them all`);
    }
  }
  if (question.kind === "elicit") drawElicit(question, { paint, own, field, block });
  else {
    const { rest: args, texts } = shownArguments(question.argumentsText);
    if (question.plan === undefined || args !== "{}") {
      field("arguments", "exactly these");
      block(displayBlock(args, WHOLE), ARGUMENT_LINES);
    }
    for (const { name, text } of texts) {
      field("and", `${displayText(name, { max: 64 })}, exactly this text`);
      block(displayBlock(text, WHOLE), FILE_LINES);
    }
  }
  const { reason } = question;
  if (reason !== undefined) {
    field("agent says", "in its own words, which nobody checked:");
    block(
      [`why: ${reason.why}`, `touches: ${reason.authority}`, `without it: ${reason.without}`]
        .map((each) => displayText(each, { max: 540 })),
      12,
    );
  }
  const origins = options.request === undefined
    ? undefined
    : valueOrigins(question, options.request);
  if (options.request !== undefined && origins !== undefined) {
    field("you asked", displayText(options.request, { max: 300 }));
    const safe = (values: readonly string[]): string =>
      displayText(values.join("; "), { max: 600 });
    if (origins.asked.length > 0) field("in it", safe(origins.asked));
    if (origins.elsewhere.length > 0) {
      field(paint.yellow("not in it  "), "chosen by the agent, or by what it read:");
      block(origins.elsewhere.map((each) => displayText(each, { max: 500 })), 12, paint.yellow);
    }
  }
  if (question.declared !== undefined) {
    const line = DECLARED[question.declared];
    field(question.declared === "declared" ? "declared" : paint.yellow("declared   "), line);
  }
  const earlier = earlierLines(question);
  if (earlier !== undefined) {
    field("last call", earlier.words);
    block(earlier.lines, 17, paint.yellow);
  }
  if (question.described !== undefined) {
    field("tool says", "in the words of its server, as they were reviewed:");
    block([displayText(question.described, { max: 300 })], 1);
  }
  for (const change of changes) {
    const count = change.note ?? `+${change.plus} −${change.minus}`;
    field("change", `${change.kind}, ${count}`);
    untrusted(change.path, paint.bold);
    block(change.lines, FILE_LINES, makeDiffPaint(change.lines, paint));
  }
  if (question.executes.length > 0) {
    field(paint.red("runs later"), "these changed files are executed by other programs");
    block(question.executes.map((path) => displayText(path, { max: 512 })), 50, paint.red);
  }
  const sources = untrustedSources(question.sources);
  const quiet = question.scope.colour === "BLUE"
    ? "nothing untrusted"
    : `nothing by name: its request, or a folder it changes, is ${question.scope.colour}`;
  field("has read", sources.length === 0 ? quiet : "this, which you did not write");
  block(
    sources.map((each) =>
      `${displayText(each.source, { max: 300 })}  (${each.colour}, ${each.label})`
    ),
    12,
    paint.yellow,
  );
  for (const each of question.advice ?? []) {
    field(paint.yellow("look twice "), displayText(each, { max: 200 }));
  }
  field("state", `colour ${question.scope.colour}, label ${question.scope.label}`);
  field("rule", displayText(question.rule, { max: 512 }));
  field("session", coverWords(question));
  lines.push(paint.yellow(`┗${"━".repeat(Math.max(2, width - 2))}`));
  return lines;
}

/** Paints a piece of a wrapped line by the first character of the whole line. */
function paintAs(line: string, piece: string, colour: (line: string) => string): string {
  const mark = line.slice(0, 1);
  const painted = colour(mark + piece);
  // A colour function that paints words within the line separately does not return it whole: leave the piece plain.
  return painted.includes(mark + piece) ? painted.replace(mark + piece, piece) : piece;
}

/** The line of choices under a frame. */
export function choiceLine(question: Question, paint: Paint): string {
  if (question.kind === "elicit") {
    return paint.dim("  y go on   d show all   n [words] no, and why   Enter alone is no");
  }
  const more = question.kind === "consent" && question.remember !== undefined
    ? "   t this turn   s this session"
    : "";
  return paint.dim(
    `  y yes, once${more}   d show all   n [words] no, and why   Enter alone is no`,
  );
}

const MAX_VALUE = 80;
const OWN: ReadonlySet<ValueOrigin["from"]> = new Set(["request", "default"]);

/** The gate's knowledge of a value that is not the person's, in words. */
function whereFrom({ from, tool, colour, says }: ValueOrigin): string {
  const author = colour === "RED" ? ", which a stranger wrote" : "";
  const hint = says === undefined ? "" : `, with ${says}`;
  if (from === "record") return `(the id of what your words name, listed by ${tool}${hint})`;
  if (from === "result") return `(stands in a result of ${tool}${author}${hint})`;
  return "(written by the agent)";
}

/**
 * The values of a call with effects outside the task: of sending, paying, deleting, or telling a server or peer. Undefined
 * for any other call, and where the arguments are no object. Each line is `name: value`, untrusted.
 */
export function valueOrigins(
  { scope: { tool, effect, destination }, argumentsText, origins }: Question,
  request: string,
): {
  readonly asked: readonly string[];
  readonly elsewhere: readonly string[];
} | undefined {
  const leaves = destination !== undefined || /^(?:mcp|a2a)_/.test(tool) ||
    effect === "outboundWrite" || effect === "destructive" || effect === "admin";
  if (!leaves) return undefined;
  let args: Json;
  try {
    args = JSON.parse(argumentsText);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (args === null || typeof args !== "object") return undefined;
  const [asked, elsewhere]: [string[], string[]] = [[], []];
  const known = new Map(origins?.map((each) => [each.at, each]));
  const look = (value: Json, name: string): void => {
    if (value !== null && typeof value === "object") {
      for (const [key, each] of Object.entries(value)) {
        look(each, name === "" ? key : `${name}.${key}`);
      }
      return;
    }
    const text = String(value);
    const shown = text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE).toWellFormed()}…`;
    const origin = known.get(name);
    const line = `${name}: ${shown}`;
    if (origin === undefined ? standsIn(request, value) : OWN.has(origin.from)) asked.push(line);
    else elsewhere.push(origin === undefined ? line : `${line}  ${whereFrom(origin)}`);
  };
  look(args, "");
  return { asked, elsewhere };
}

/** The split arguments; together they are complete. */
export interface ShownArguments {
  /** JSON of everything except the texts. */
  readonly rest: string;
  /** Texts of several lines, by their argument's name. Both are untrusted. */
  readonly texts: readonly { readonly name: string; readonly text: string }[];
}

/** Splits canonical arguments; arguments that are no object stay whole. */
export function shownArguments(argumentsText: string): ShownArguments {
  const whole: ShownArguments = { rest: argumentsText, texts: [] };
  let args: unknown;
  try {
    args = JSON.parse(argumentsText);
  } catch {
    return whole; // The kernel writes JSON; a forged question is shown as it is.
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) return whole;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(args);
  const texts = entries.flatMap(([name, value]) =>
    typeof value === "string" && value.includes("\n") ? [{ name, text: value }] : []
  );
  if (texts.length === 0) return whole;
  const named = new Set(texts.map(({ name }) => name));
  const rest = Object.fromEntries(entries.filter(([name]) => !named.has(name)));
  return { rest: JSON.stringify(rest), texts };
}
