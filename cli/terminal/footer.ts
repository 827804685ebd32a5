/** Rows that stay at the bottom while other text is written above them: what a person types meanwhile. @module */
import { columnsOf } from "./columns.ts";

/** Rows as they stand on the terminal, and where the cursor is in them. */
export interface Drawn {
  readonly rows: readonly string[];
  /** The cursor's row, and what stands before the cursor in it. */
  readonly row: number;
  readonly before: string;
}

/** Columns of a text with colours. */
// deno-lint-ignore no-control-regex -- colours are control characters
export const inked = (text: string): number => columnsOf(text.replaceAll(/\x1b\[[0-9;]*m/g, ""));

/**
 * Breaks a line with colours between words, where it is longer than the terminal: a terminal itself would break it within
 * one. Rows after the first stand a little further in. A word that is longer than a row stays whole here.
 */
export function inkedWrap(line: string, columns: number): string[] {
  if (inked(line) <= columns) return [line];
  const indent = " ".repeat(Math.min(8, (/^ */.exec(line)?.[0].length ?? 0) + 2));
  const rows: string[] = [];
  let row = "";
  for (const word of line.split(/(?<=[^ ] )(?=[^ ])/)) {
    if (row.trim() !== "" && inked((row + word).trimEnd()) > columns) {
      rows.push(row.trimEnd());
      row = indent;
    }
    row += word;
  }
  rows.push(row.trimEnd());
  return rows;
}

/** Terminal rows that a drawn row takes after the terminal became narrower. */
export const tall = (row: string, width: number): number =>
  Math.max(1, Math.ceil(inked(row) / Math.max(1, width)));

const atEnd = ({ rows, row, before }: Drawn): boolean =>
  row === rows.length - 1 && before === rows.at(-1);

/** From the end of what is drawn to the cursor. */
export function back(drawn: Drawn): string {
  if (atEnd(drawn)) return "";
  const up = drawn.rows.length - 1 - drawn.row;
  // The terminal itself says how wide the letters before the cursor are: they are written again.
  return `${up > 0 ? `\x1b[${up}A` : ""}\r${drawn.before}`;
}

/** Whether the cursor stands at the end of all rows. */
export const cursorAtEnd = atEnd;

/** What stands at the bottom of a terminal. */
export interface Footer {
  /** What to write before other text: the rows are gone, and the cursor is where that text goes on. */
  lift(width: number): string;
  /** Other text was written. */
  wrote(text: string): void;
  /** Other text has begun a row and not ended it. */
  midway(): boolean;
  /** What to write so that `next` stands under all that was written; undefined: nothing stands there. */
  put(next: Drawn | undefined): string;
}

/** Makes it. The caller writes what the methods give, in their order. */
export function makeFooter(): Footer {
  /** The row that other text has begun and not ended. */
  let partial = "";
  let shown: Drawn | undefined;
  return Object.freeze<Footer>({
    lift(width): string {
      if (shown === undefined) return "";
      const { rows, row, before } = shown;
      shown = undefined;
      const above = rows.slice(0, row).reduce((sum, each) => sum + tall(each, width), 0) +
        tall(before, width) - 1 + (partial === "" ? 0 : tall(partial, width));
      return `${above > 0 ? `\x1b[${above}A` : ""}\r\x1b[J${partial}`;
    },
    wrote(text): void {
      const end = text.lastIndexOf("\n");
      partial = end < 0 ? partial + text : text.slice(end + 1);
    },
    midway: () => partial !== "",
    put(next): string {
      shown = next;
      if (next === undefined) return "";
      return `${partial === "" ? "" : "\r\n"}${next.rows.join("\r\n")}${back(next)}`;
    },
  });
}
