/** A line being edited, as plain data: graphemes, a cursor, and the history of earlier lines. @module */
import { displayText } from "../../text/mod.ts";
import type { LineExtras } from "../powers.ts";
import type { Key, Move } from "./line_keys.ts";

/** A text as graphemes, and the number of them before the cursor. */
export interface Line {
  readonly graphemes: readonly string[];
  readonly at: number;
}

/** A line with its history. `place` is `past.length` for a line that is not from the history. */
export interface Editing {
  readonly line: Line;
  readonly past: readonly string[];
  readonly place: number;
  /** The line before the person went into the history. */
  readonly draft: Line;
  /** The text searched for in the history; while it is set, keys change this text and not the line. */
  readonly sought?: string;
}

/** The effect of a key: the line goes on, is entered, or ends without a text. */
export type Edited =
  | { readonly kind: "going"; readonly editing: Editing }
  | { readonly kind: "entered"; readonly text: string }
  | { readonly kind: "ended" };

const EMPTY: Line = { graphemes: [], at: 0 };
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function graphemesOf(text: string): string[] {
  // ASCII, the usual case: each character is a grapheme.
  if (/^[ -~\n\t]*$/.test(text)) return text.split("");
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

const lineOf = (text: string): Line => {
  const graphemes = graphemesOf(text);
  return { graphemes, at: graphemes.length };
};

/** The text of a line. */
export const textOf = (line: Line): string => line.graphemes.join("");

/** Begins a line. `past` holds earlier entries, the oldest first. */
export function beginLine(past: readonly string[]): Editing {
  return { line: EMPTY, past, place: past.length, draft: EMPTY };
}

/** The line with another text, the cursor at its end. */
export function withText(editing: Editing, text: string): Editing {
  return { ...editing, line: lineOf(text) };
}

/** Completes the word at the cursor; `choices` lists the possible words where there are several. */
export function completed(
  editing: Editing,
  complete: LineExtras["complete"],
): { readonly editing: Editing; readonly choices: readonly string[] } {
  const { graphemes, at } = editing.line;
  const found = complete?.(graphemes.slice(0, at).join(""));
  if (found === undefined) return { editing, choices: [] };
  const from = Math.max(0, at - found.replaces);
  const before = [...graphemes.slice(0, from), ...graphemesOf(found.by)];
  const line = { graphemes: before.concat(graphemes.slice(at)), at: before.length };
  return { editing: { ...editing, line }, choices: found.choices };
}

const cut = ({ graphemes, at }: Line, from: number, to: number): Line => ({
  graphemes: [...graphemes.slice(0, from), ...graphemes.slice(to)],
  at: at <= from ? at : Math.max(from, at - (to - from)),
});

function wordStart({ graphemes, at }: Line): number {
  let to = at;
  while (to > 0 && /\s/.test(graphemes[to - 1] ?? "")) to--;
  while (to > 0 && !/\s/.test(graphemes[to - 1] ?? "")) to--;
  return to;
}

function wordEnd({ graphemes, at }: Line): number {
  let to = at;
  while (to < graphemes.length && /\s/.test(graphemes[to] ?? "")) to++;
  while (to < graphemes.length && !/\s/.test(graphemes[to] ?? "")) to++;
  return to;
}

/** Start of the cursor's row: a pasted text has several rows. */
const rowStart = ({ graphemes }: Line, at: number): number =>
  at === 0 ? 0 : graphemes.lastIndexOf("\n", at - 1) + 1;

function rowEnd({ graphemes }: Line, at: number): number {
  const end = graphemes.indexOf("\n", at);
  return end < 0 ? graphemes.length : end;
}

function rowAbove(line: Line): Line | undefined {
  const start = rowStart(line, line.at);
  if (start === 0) return undefined;
  const above = rowStart(line, start - 1);
  return { ...line, at: Math.min(above + (line.at - start), start - 1) };
}

function rowBelow(line: Line): Line | undefined {
  const end = rowEnd(line, line.at);
  if (end === line.graphemes.length) return undefined;
  const column = line.at - rowStart(line, line.at);
  return { ...line, at: Math.min(end + 1 + column, rowEnd(line, end + 1)) };
}

function recalled(editing: Editing, step: -1 | 1): Editing {
  const place = editing.place + step;
  if (place < 0 || place > editing.past.length) return editing;
  const draft = editing.place === editing.past.length ? editing.line : editing.draft;
  const text = editing.past[place];
  return { ...editing, place, draft, line: text === undefined ? draft : lineOf(text) };
}

/** The newest history entry before `from` that contains `sought`; without one, the line stays. */
function found(editing: Editing, sought: string, from: number): Editing {
  const place = sought === ""
    ? -1
    : editing.past.slice(0, Math.max(0, from)).findLastIndex((each) => each.includes(sought));
  const text = editing.past[place];
  return text === undefined
    ? { ...editing, sought }
    : { ...editing, sought, place, line: lineOf(text) };
}

/** The effect of a key during a search; undefined: the search ends, and the key acts on the line. */
function searching(editing: Editing, sought: string, key: Key): Editing | undefined {
  const { past } = editing;
  if (key.kind === "text") return found(editing, sought + key.text, past.length);
  switch (key.move) {
    case "search":
      return found(editing, sought, editing.place);
    case "back":
      return found(editing, sought.slice(0, -1), past.length);
    case "interrupt":
    case "escape":
      return { past, line: editing.draft, draft: editing.draft, place: past.length };
    default:
      return undefined;
  }
}

/** The prompt, preceded by the searched text during a search. */
export function promptOf(prompt: string, { sought }: Editing): string {
  return sought === undefined ? prompt : `search "${displayText(sought, { max: 40 })}" ${prompt}`;
}

function moved(line: Line, move: Move): Line {
  const { graphemes, at } = line;
  switch (move) {
    case "left":
      return { graphemes, at: Math.max(0, at - 1) };
    case "right":
      return { graphemes, at: Math.min(graphemes.length, at + 1) };
    case "wordLeft":
      return { graphemes, at: wordStart(line) };
    case "wordRight":
      return { graphemes, at: wordEnd(line) };
    case "home":
      return { graphemes, at: rowStart(line, at) };
    case "end":
      return { graphemes, at: rowEnd(line, at) };
    case "back":
      return cut(line, Math.max(0, at - 1), at);
    case "delete":
      return cut(line, at, Math.min(graphemes.length, at + 1));
    case "backWord":
      return cut(line, wordStart(line), at);
    case "killLine":
      return cut(line, rowStart(line, at), at);
    case "killRest":
      return cut(line, at, rowEnd(line, at));
    default:
      return line;
  }
}

function typed(line: Line, text: string): Line {
  // Typed text may combine with the grapheme before it.
  const kept = line.graphemes.slice(0, Math.max(0, line.at - 1));
  const before = kept.concat(graphemesOf((line.graphemes[line.at - 1] ?? "") + text));
  return { graphemes: before.concat(line.graphemes.slice(line.at)), at: before.length };
}

/**
 * The effect of a key on a line. With `many`, the text may have several rows; else rows are joined by spaces. Text past
 * `max` characters is not accepted.
 */
export function edit(
  editing: Editing,
  key: Key,
  { many, max }: { readonly many: boolean; readonly max: number },
): Edited {
  if (editing.sought !== undefined) {
    const next = searching(editing, editing.sought, key);
    if (next !== undefined) return { kind: "going", editing: next };
    const { sought: _, ...kept } = editing;
    return edit(kept, key, { many, max });
  }
  const { line } = editing;
  const going = (next: Line): Edited => ({ kind: "going", editing: { ...editing, line: next } });
  if (key.kind === "text") {
    const text = many ? key.text : key.text.replace(/[\n\t]+$/, "").replaceAll(/[\n\t]+/g, " ");
    // Counted in characters: a grapheme may have any number of combining marks.
    return going(textOf(line).length + text.length > max ? line : typed(line, text));
  }
  switch (key.move) {
    case "enter":
      // A backslash before Enter starts a new row on every terminal.
      if (many && line.at === line.graphemes.length && line.graphemes.at(-1) === "\\") {
        return going(typed(cut(line, line.at - 1, line.at), "\n"));
      }
      return { kind: "entered", text: textOf(line) };
    case "search": {
      if (!many || editing.past.length === 0) return { kind: "going", editing };
      const draft = editing.place === editing.past.length ? line : editing.draft;
      return { kind: "going", editing: { ...editing, draft, sought: "" } };
    }
    case "newline":
      return many ? going(typed(line, "\n")) : { kind: "going", editing };
    case "interrupt":
      return many && line.graphemes.length > 0
        ? { kind: "going", editing: beginLine(editing.past) }
        : { kind: "ended" };
    case "endOfInput":
      return line.graphemes.length === 0 ? { kind: "ended" } : going(moved(line, "delete"));
    case "up": {
      const above = rowAbove(line);
      return above === undefined ? { kind: "going", editing: recalled(editing, -1) } : going(above);
    }
    case "down": {
      const below = rowBelow(line);
      return below === undefined ? { kind: "going", editing: recalled(editing, 1) } : going(below);
    }
    default:
      return going(moved(line, key.move));
  }
}
