/** Reads a table element into rows of cells, and cells into texts. @module */
import { type InlineOptions, inlineText } from "./inline.ts";
import type { PageElement } from "./page_tree.ts";

/** A table's rows of cells, those in its head, body and foot in order. */
export interface TableContent {
  readonly caption: string;
  readonly cells: readonly (readonly PageElement[])[];
}

const MOST_COLUMNS = 50;
const LONG_CELL = 2_000;

/** Reads the rows of a table. */
export function tableRows(table: PageElement, options: InlineOptions): TableContent {
  const cells: (readonly PageElement[])[] = [];
  let caption = "";
  const read = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (typeof child === "string") continue;
      if (child.name === "caption") caption = inlineText(child.children, options).trim();
      else if (child.name === "tr") cells.push(child.children.filter(isCell));
      else if (/^t(?:head|body|foot)$/.test(child.name)) read(child);
    }
  };
  read(table);
  return { caption, cells };
}

/** What the cells of a row say; a cell that spans columns is followed by empty ones. */
export function rowTexts(row: readonly PageElement[], options: InlineOptions): readonly string[] {
  const texts = row.slice(0, MOST_COLUMNS).flatMap((cell) => {
    const wanted = Math.floor(Number(cell.attributes.get("colspan") ?? "1"));
    const span = Math.min(MOST_COLUMNS, Math.max(1, wanted || 1));
    const text = inlineText(cell.children, options).replace(/\s+/g, " ").replaceAll("|", "\\|")
      .trim();
    return [text, ...Array.from({ length: span - 1 }, () => "")];
  });
  const left = row.length - MOST_COLUMNS;
  return left > 0
    ? [...texts.slice(0, MOST_COLUMNS), `… ${left} more`]
    : texts.slice(0, MOST_COLUMNS);
}

/** Whether a cell is more than a line of a table can hold. */
export function holdsBlocks(cell: PageElement): boolean {
  if (cell.size > LONG_CELL) return true;
  return cell.children.some((child) => typeof child !== "string" && LARGE.test(child.name));
}

const LARGE = /^(?:table|ul|ol|dl|pre|blockquote|h[1-6]|section|article)$/;

function isCell(node: PageElement | string): node is PageElement {
  return typeof node !== "string" && (node.name === "td" || node.name === "th");
}
