/** Keeps rows at the bottom of the terminal while other text is written above them. @module */
import { columnsOf } from "./columns.ts";

/** Rows on the terminal, and the cursor's place in them. */
export interface Drawn {
  readonly rows: readonly string[];
  /** The cursor's row, and the text before the cursor in it. */
  readonly row: number;
  readonly before: string;
}

/** Columns of a text without its colour codes. */
// deno-lint-ignore no-control-regex -- colours are control characters
export const inked = (text: string): number => columnsOf(text.replaceAll(/\x1b\[[0-9;]*m/g, ""));

/**
 * Wraps a line with colours between words where it is longer than the terminal, which would itself break within a word.
 * Later rows are indented. A word longer than a row stays whole.
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

/** Terminal rows that a drawn row takes, for instance after the terminal became narrower. */
export const tall = (row: string, width: number): number =>
  Math.max(1, Math.ceil(inked(row) / Math.max(1, width)));

/** Whether the cursor stands at the end of all rows. */
export const cursorAtEnd = ({ rows, row, before }: Drawn): boolean =>
  row === rows.length - 1 && before === rows.at(-1);

/** The output that moves the cursor from the end of the drawn rows to its place. */
export function back(drawn: Drawn): string {
  if (cursorAtEnd(drawn)) return "";
  const up = drawn.rows.length - 1 - drawn.row;
  // Rewriting the text before the cursor lets the terminal itself determine its width.
  return `${up > 0 ? `\x1b[${up}A` : ""}\r${drawn.before}`;
}

/** Rows at the bottom of a terminal. Each method's result must be written, in order. */
export interface Footer {
  /** Output that removes the rows, and puts the cursor where other text continues. */
  lift(width: number): string;
  /** Call after writing other text. */
  wrote(text: string): void;
  /** Whether other text ended within a row. */
  midway(): boolean;
  /** Output that draws `next` under everything; undefined for no rows. */
  put(next: Drawn | undefined): string;
}

/** Makes a footer without rows. */
export function makeFooter(): Footer {
  /** The open row of other text. */
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
