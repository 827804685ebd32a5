/** Parses one hunk of a unified diff. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { type Hunk, type HunkLine, type Line } from "./diff_model.ts";

/** A hunk and the index of the first line behind it. */
export interface ReadHunk {
  readonly hunk: Hunk;
  readonly next: number;
}

/** Where a hunk begins, and whether its counts are used. */
export interface HunkPlace {
  /** Index of its `@@` line. */
  readonly at: number;
  readonly recount: boolean;
  /** Without an `@@` line: the first hunk of a file in the form of `*** Begin Patch`. */
  readonly headless?: boolean;
}

const HEAD = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$/;
/** A head without numbers: `@@`, `@@ … @@`, `@@ a line above the hunk`. */
const BARE_HEAD = /^@@(?: +(?![-+]\d)(.*?))?(?: *@@(.*))?$/;
const KIND: Readonly<Record<string, HunkLine["kind"]>> = { " ": "keep", "-": "drop", "+": "add" };

/**
 * Parses the hunk at `place.at`.
 *
 * @throws {Fault} `invalidInput` when its head does not parse, its lines differ from the counts, or
 * lines follow the one marked as the end of the file
 */
export function readHunk(lines: readonly Line[], place: HunkPlace): ReadHunk {
  const text = place.headless === true ? "@@" : lines[place.at]?.text ?? "";
  const head = HEAD.exec(text), bare = head === null ? BARE_HEAD.exec(text) : null;
  if (head === null && bare === null) {
    throw bad(
      place.at,
      'is no hunk head: it reads "@@ -LINE,COUNT +LINE,COUNT @@", or "@@" alone where the context says where',
    );
  }
  const counts = { old: Number(head?.[2] ?? 1), new: Number(head?.[4] ?? 1) };
  // Without numbers only the lines themselves count.
  const recount = place.recount || head === null;
  const counted = { old: 0, new: 0 };
  const found: HunkLine[] = [];
  let at = place.headless === true ? place.at : place.at + 1;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? { text: "", end: "" };
    if (line.text.startsWith("\\ ")) {
      endOfFile(found, at, lines[place.at]?.end === "\r\n");
      continue;
    }
    const full = counted.old >= counts.old && counted.new >= counts.new;
    if (recount ? isBoundary(lines, at) : full) break;
    // Editors and models drop the single blank of an empty kept line.
    const kind = line.text === "" ? "keep" : KIND[line.text[0] ?? ""];
    if (kind === undefined) break;
    if (kind !== "add") counted.old += 1;
    if (kind !== "drop") counted.new += 1;
    found.push({
      kind,
      line: { text: line.text.slice(1), end: line.end === "" ? "\n" : line.end },
    });
  }
  if (recount) {
    trimBlank(found, lines, at);
    if (head === null) refuseUnmarked(lines, at);
  } else if (counted.old !== counts.old || counted.new !== counts.new) {
    throw bad(
      place.at,
      `says ${counts.old} old and ${counts.new} new lines, and ${counted.old} and ${counted.new} follow: ` +
        "write the right counts, or pass recount: true",
    );
  } else refuseLeftOver(lines, at);
  checkEnds(found, place.at);
  const hunk = head === null ? { section: sectionOf(bare), lines: found } : {
    oldStart: Number(head[1]),
    newStart: Number(head[3]),
    section: head[5] ?? "",
    lines: found,
  };
  return { hunk, next: at };
}

/** Whether the line at `at` begins another hunk or file. */
function isBoundary(lines: readonly Line[], at: number): boolean {
  const text = lines[at]?.text ?? "";
  return isHunkHead(text) || text.startsWith("diff --git ") || text.startsWith("*** ") ||
    isFileHead(lines, at);
}

/** Whether a line begins a hunk. */
export function isHunkHead(text: string): boolean {
  return /^@@(?: |$)/.test(text);
}

/** The line above a hunk that a head without numbers names; dots mean none. */
function sectionOf(bare: RegExpExecArray | null): string {
  const [, inside = "", behind = ""] = bare ?? [];
  return [behind.trim(), inside.trim()].find((text) => /[^.\s\u2026]/.test(text)) ?? "";
}

/** Refuses an unmarked line after a hunk without counts: it would otherwise be lost. */
function refuseUnmarked(lines: readonly Line[], at: number): void {
  const text = lines[at]?.text ?? "";
  if (text === "" || isBoundary(lines, at) || text.startsWith("```") || text.trimEnd() === "--") {
    return;
  }
  throw bad(
    at,
    `begins with neither " ", "-" nor "+": "${text.slice(0, 80)}". Mark each line of the hunk`,
  );
}

/** Whether `---` and `+++` lines are at `at`. */
export function isFileHead(lines: readonly Line[], at: number): boolean {
  return (lines[at]?.text.startsWith("--- ") ?? false) &&
    (lines[at + 1]?.text.startsWith("+++ ") ?? false);
}

/** Without counts, blank lines between hunks belong to neither hunk. */
function trimBlank(found: HunkLine[], lines: readonly Line[], at: number): void {
  for (let back = at - 1; found.length > 0 && lines[back]?.text === ""; back -= 1) found.pop();
}

/** Removes the last line's end; a CR before it stays with the line, unless all lines have CRLF. */
function endOfFile(found: HunkLine[], at: number, crlfDiff: boolean): void {
  const last = found.pop();
  if (last === undefined) throw bad(at, "says that a line has no end, and there is none before it");
  const { text, end } = last.line;
  const own = end === "\r\n" && !crlfDiff ? "\r" : "";
  found.push({ kind: last.kind, line: { text: text + own, end: "" } });
}

function checkEnds(found: readonly HunkLine[], at: number): void {
  for (const other of ["add", "drop"]) {
    const side = found.filter(({ kind }) => kind !== other);
    if (side.slice(0, -1).some(({ line }) => line.end === "")) {
      throw bad(at, "goes on behind a line that is said to end its file");
    }
  }
}

function refuseLeftOver(lines: readonly Line[], at: number): void {
  const text = lines[at]?.text ?? "";
  // `-- ` alone opens the signature of a mailed patch.
  if (!/^[-+ ]/.test(text) || isFileHead(lines, at) || text.trimEnd() === "--") return;
  throw bad(
    at,
    `stands behind a hunk whose counts are used up: "${text.slice(0, 80)}". ` +
      "Write the right counts, or pass recount: true",
  );
}

function bad(at: number, why: string): Fault {
  return new Fault("invalidInput", `Cannot read the diff: line ${at + 1} ${why}`);
}
