/** Tables of safe text for a terminal. @module */
import { columnsOf, cutTo, padTo } from "./columns.ts";

/**
 * Lays out rows under headings, or says `none` where there are no rows. Every cell must be safe text; the last column is
 * cut at `width`.
 */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
  none?: string,
): string[] {
  if (none !== undefined && rows.length === 0) return [none];
  const all = [headings, ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => columnsOf(row[column] ?? "")))
  );
  return all.map((row) => {
    const line = headings.map((_, column) =>
      column === headings.length - 1
        ? row[column] ?? ""
        : padTo(row[column] ?? "", widths[column] ?? 0)
    ).join("  ");
    return cutTo(line, Math.max(40, width)).trimEnd();
  });
}
