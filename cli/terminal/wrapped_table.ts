/** Tables whose cells wrap, so that nothing is lost in 80 columns. Every cell is safe text. @module */
import { columnsOf, hardWrap, padTo } from "./columns.ts";

/** Narrowest column whose content is longer. */
const MIN_COLUMN = 8;
const GAP = 2;

/** Narrows the widest columns until all fit; the first, which names the rows, only in the end. */
function fitted(natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural];
  const room = width - GAP * (widths.length - 1);
  const widestOf = (from: number): number => widths.indexOf(Math.max(...widths.slice(from)), from);
  for (let over = widths.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
    const other = widths.length > 1 ? widestOf(1) : 0;
    const widest = (widths[other] ?? 0) > MIN_COLUMN ? other : widestOf(0);
    const now = widths[widest] ?? 0;
    if (now <= MIN_COLUMN) break;
    widths[widest] = now - 1;
  }
  return widths;
}

/** The lines of a cell. Names of packages, paths and addresses break between their parts where possible. */
function cellLines(cell: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const part of cell.split(/(?<=[ /-])/)) {
    if (line !== "" && columnsOf(line) + columnsOf(part.trimEnd()) > columns) {
      lines.push(line.trimEnd());
      line = "";
    }
    const pieces = hardWrap(part, columns);
    lines.push(...pieces.slice(0, -1));
    line += pieces.at(-1) ?? "";
  }
  return [...lines, line.trimEnd()];
}

/** Lays out rows under headings; long cells continue on the lines below. */
export function wrapTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const all = [headings, ...rows];
  const natural = headings.map((_, column) =>
    Math.max(...all.map((row) => columnsOf(row[column] ?? "")))
  );
  const widths = fitted(natural, width);
  return all.flatMap((row) => {
    const cells = widths.map((width, column) => {
      const cell = row[column] ?? "";
      return columnsOf(cell) <= width ? [cell] : cellLines(cell, width);
    });
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from(
      { length: height },
      (_, n) =>
        cells.map((lines, column) => padTo(lines[n] ?? "", widths[column] ?? 0)).join(
          " ".repeat(GAP),
        )
          .trimEnd(),
    );
  });
}
