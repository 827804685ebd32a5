/** Tables whose cells wrap, so that nothing of them is lost in 80 columns. Every cell is safe text. @module */
import { columnsOf, hardWrap, padTo, wordWrap } from "./columns.ts";

/** Narrowest a column gets, where its words are longer. */
const LEAST = 8;
const GAP = 2;

/** The widest columns give way until all fit. */
function fitted(natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural];
  const room = width - GAP * (widths.length - 1);
  for (let over = widths.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    const now = widths[widest] ?? 0;
    if (now <= LEAST) break;
    widths[widest] = now - 1;
  }
  return widths;
}

/** Lays out rows under headings; long cells go on beneath themselves. */
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
    const cells = widths.map((most, column) => {
      const cell = row[column] ?? "";
      return columnsOf(cell) <= most
        ? [cell]
        : wordWrap(cell, most).flatMap((line) => hardWrap(line, most));
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
