/** Sections of a page's view, within what the wire takes. Every text was made safe to show before. @module */
import type { PageView } from "../../../contracts/mod.ts";
import { hardWrap } from "../../terminal/columns.ts";

/** Columns of text: what a phone shows without scrolling. */
export const WIDTH = 60;
/** Rows of a list. */
const MOST_ROWS = 200;
/** Lines of one section, as the wire takes them. */
export const MOST_LINES = 5_000;
/** Units of a line, as the wire takes them. */
export const LONGEST_LINE = 8_192;

/** A part of a view. */
export type Section = PageView["sections"][number];
/** A line of a list. */
export type Row = Section["rows"][number];

/** A list; `none` is said where it is empty, and how many more there are where it is long. */
export function list(heading: string, rows: readonly Row[], none: string): Section {
  const shown = rows.slice(0, MOST_ROWS);
  const more = rows.length > shown.length
    ? [`and ${rows.length - shown.length} more: see them at your terminal`]
    : [];
  return { heading, rows: shown, lines: shown.length === 0 ? [none] : more };
}

/** Lines as they stand. */
export function text(heading: string, lines: readonly string[]): Section {
  return {
    heading,
    rows: [],
    lines: lines.slice(0, MOST_LINES).map((line) => line.slice(0, LONGEST_LINE)),
  };
}

/** Fields' lines; what does not fit goes on beneath its value, marked, so that it looks like no field. */
export function clipped(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [first = ""] = hardWrap(line, WIDTH);
    const rest = line.slice(first.length);
    if (rest === "") return [line];
    return [first, ...hardWrap(rest, WIDTH - 14).map((piece) => `${" ".repeat(12)}↪ ${piece}`)];
  });
}
