/** Draws a line that is being typed, in rows that the terminal never breaks itself. @module */
import { columnsOf } from "../terminal/columns.ts";
import { back, cursorAtEnd, type Drawn, inked, tall } from "../terminal/footer.ts";
import { displayText } from "../../text/mod.ts";
import type { Line } from "./line_edit.ts";

const INDENT = "  ";

/** A grapheme as shown on the screen; a tab as one column. */
function shownGrapheme(grapheme: string): string {
  if (grapheme === "\t") return " ";
  return /^[ -~]$/.test(grapheme) ? grapheme : displayText(grapheme, { max: 64 });
}

/** Lays out a prompt and line in rows of less than `width` columns, at most `maxRows` of them around the cursor. */
export function layOut(
  prompt: string,
  line: Line,
  { width, maxRows }: { readonly width: number; readonly maxRows: number },
): Drawn {
  const rows: string[] = [];
  let row = prompt;
  let used = inked(prompt);
  let cursor: { row: number; before: string } | undefined;
  const next = (): void => {
    rows.push(row);
    row = INDENT;
    used = INDENT.length;
  };
  // A long text is laid out at each key, and repeats few distinct graphemes.
  const known = new Map<string, { readonly shown: string; readonly needs: number }>();
  const inkOf = (grapheme: string): { readonly shown: string; readonly needs: number } => {
    const found = known.get(grapheme);
    if (found !== undefined) return found;
    const shown = grapheme === "\n" ? "" : shownGrapheme(grapheme);
    const ink = { shown, needs: columnsOf(shown) };
    known.set(grapheme, ink);
    return ink;
  };
  line.graphemes.forEach((grapheme, n) => {
    const { shown, needs } = inkOf(grapheme);
    if (used + needs >= width && used > INDENT.length) next();
    if (n === line.at) cursor = { row: rows.length, before: row };
    if (grapheme === "\n") next();
    else {
      row += shown;
      used += needs;
    }
  });
  cursor ??= { row: rows.length, before: row };
  rows.push(row);
  const first = Math.max(0, Math.min(cursor.row - maxRows + 1, rows.length - maxRows));
  return {
    rows: rows.slice(first, first + maxRows),
    row: cursor.row - first,
    before: cursor.before,
  };
}

/** The output that replaces `last` by `next` on the screen; `last` is undefined at first. `width` is the terminal's now. */
export function redraw(last: Drawn | undefined, next: Drawn, width: number): string {
  if (last === undefined) return next.rows.join("\r\n") + back(next);
  const [before, after] = [last, next].map(({ rows }) => rows.join("\r\n"));
  // Text added at the end is just written, as a terminal echoes it.
  if (after?.startsWith(before ?? "") === true && cursorAtEnd(last) && cursorAtEnd(next)) {
    return after.slice(before?.length ?? 0);
  }
  const above = last.rows.slice(0, last.row)
    .reduce((sum, row) => sum + tall(row, width), tall(last.before, width) - 1);
  return [above > 0 ? `\x1b[${above}A` : "", "\r\x1b[J", after ?? "", back(next)].join("");
}

/** {@link redraw} for a terminal without cursor movements: writes the added text, or the line again on a new row. */
export function rewrite(last: Drawn | undefined, next: Drawn): string {
  const [before, after] = [last?.rows.join(" ") ?? "", next.rows.join(" ")];
  if (after.startsWith(before)) return after.slice(before.length);
  return `\r\n${after}`;
}
