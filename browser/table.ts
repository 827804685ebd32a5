/** Tables that hold data, told from those that only lay a page out. @module */
import { descendants, type Element } from "./dom.ts";
import { isControl } from "./fields.ts";

/** A row of a table. */
export interface Row {
  readonly cells: readonly Element[];
  /** All its cells are headings. */
  readonly header: boolean;
}

const ROWS = 5_000;

/** The rows of a table of data; undefined for one that holds forms or tables, or has a single column. */
export function dataRows(table: Element): readonly Row[] | undefined {
  const rows: Row[] = [];
  let widest = 0;
  for (const element of descendants(table)) {
    if (element.name === "table" || element.name === "form" || isControl(element)) return undefined;
    if (element.name !== "tr" || rows.length >= ROWS) continue;
    const cells = element.children.flatMap((node) =>
      node.kind === "element" && (node.name === "td" || node.name === "th") ? [node] : []
    );
    if (cells.length === 0) continue;
    widest = Math.max(widest, cells.length);
    rows.push({ cells, header: cells.every(({ name }) => name === "th") });
  }
  return widest > 1 ? rows : undefined;
}
