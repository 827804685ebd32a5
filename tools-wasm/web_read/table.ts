/** Reads a table element into rows of cells, and cells into texts. @module */
import { type InlineOptions, inlineText } from "./inline.ts";
import type { PageElement } from "./page_tree.ts";

/** A table's rows of cells, those in its head, body and foot in order. */
export interface TableContent {
  readonly caption: string;
  readonly cells: readonly (readonly PageElement[])[];
}

const MOST_COLUMNS = 50;
const MOST_ROWS = 65_534;
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

/**
 * What the cells of a table say, each in its column. A cell that spans columns or rows stands in the first of them, and
 * the others are empty.
 */
export function tableTexts(
  rows: readonly (readonly PageElement[])[],
  options: InlineOptions,
): readonly (readonly string[])[] {
  /** By column, the rows that a cell from above still covers. */
  const covered: number[] = [];
  return rows.map((row) => {
    const texts: string[] = [];
    const skip = (): void => {
      while ((covered[texts.length] ?? 0) > 0) {
        covered[texts.length] = (covered[texts.length] ?? 0) - 1;
        texts.push("");
      }
    };
    let left = 0;
    for (const cell of row) {
      skip();
      if (texts.length >= MOST_COLUMNS) {
        left += 1;
        continue;
      }
      const below = spanOf(cell, "rowspan", MOST_ROWS) - 1;
      const columns = spanOf(cell, "colspan", MOST_COLUMNS);
      const said = inlineText(cell.children, options).replace(/\s+/g, " ").replaceAll("|", "\\|");
      for (let at = 0; at < columns && texts.length < MOST_COLUMNS; at += 1) {
        covered[texts.length] = below;
        texts.push(at === 0 ? said.trim() : "");
      }
    }
    skip();
    return left > 0 ? [...texts, `… ${left} more`] : texts;
  });
}

/** How many columns or rows a cell covers; all that follow where it says 0. */
function spanOf(cell: PageElement, name: "colspan" | "rowspan", most: number): number {
  const said = Math.floor(Number(cell.attributes.get(name) ?? "1"));
  if (said === 0 && name === "rowspan") return most;
  return Math.min(most, Math.max(1, said || 1));
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
