/** Writes a page's tree as Markdown. @module */
import { type InlineOptions, inlineText, plain } from "./inline.ts";
import type { PageElement, PageNode } from "./page_tree.ts";
import { resolveLink } from "./resolve_link.ts";

/** How a page is written. */
interface MarkdownOptions extends InlineOptions {
  /** Elements that are left out, by name. */
  readonly without: ReadonlySet<string>;
  /** Characters after which nothing more is written. */
  readonly most: number;
}

const INLINE = new Set(
  "#text a abbr acronym b bdi bdo big br button cite code data del dfn em font i img input ins kbd label mark math meter output progress q rp rt ruby s samp select small span strike strong sub sup textarea time tt u var wbr"
    .split(" "),
);
/** Characters of a link around blocks that is still written as one line. */
const CARD = 300;
/** By their roles, elements that are around the content and not of it. */
const AROUND = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar".split(" "),
);

/** Writes `root` and what is below it. */
export function toMarkdown(root: PageElement, options: MarkdownOptions): string {
  const out = makeMarkdownOut(options.most);
  blocks(root.children, { out, options });
  return out.text();
}

interface Writing {
  readonly out: MarkdownOut;
  readonly options: MarkdownOptions;
  /** Within a list's item. */
  readonly nested?: boolean;
}

/** Runs of inline parts are paragraphs; every other part is a block. */
function blocks(nodes: readonly PageNode[], writing: Writing): void {
  let run: PageNode[] = [];
  const flush = (): void => {
    if (run.length > 0) writing.out.block(startSafe(inlineText(run, writing.options).trim()));
    run = [];
  };
  for (const node of nodes) {
    if (writing.out.full()) return;
    if (isInline(node)) run.push(node);
    else {
      flush();
      block(node, writing);
    }
  }
  flush();
}

/** A link or a span around blocks is a block. */
function isInline(node: PageNode): node is PageNode & (string | PageElement) {
  return typeof node === "string" || (INLINE.has(node.name) && !node.holdsBlocks);
}

function block(node: PageNode, writing: Writing): void {
  if (typeof node === "string") return;
  const { out, options } = writing;
  if (options.without.has(node.name)) return;
  if (options.without.size > 0 && AROUND.has(node.attributes.get("role")?.toLowerCase() ?? "")) {
    return;
  }
  switch (node.name) {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6": {
      const text = inlineText(node.children, options).replace(/\s+/g, " ").trim();
      if (text !== "") out.block(`${"#".repeat(Number(node.name[1]))} ${text}`);
      return;
    }
    case "a":
      card(node, writing);
      return;
    case "hr":
      out.block("---");
      return;
    case "pre":
      out.block(fenced(plain(node)));
      return;
    case "ul":
    case "ol":
    case "menu":
    case "dir":
      list(node, writing);
      return;
    case "blockquote":
      out.under({ first: "> ", rest: "> ", tight: false }, () => blocks(node.children, writing));
      return;
    case "table":
      table(node, writing);
      return;
    case "dt":
      out.block(`**${inlineText(node.children, options).trim()}**`);
      return;
    case "dd":
      out.under({ first: ": ", rest: "  ", tight: true }, () => blocks(node.children, writing));
      return;
    default:
      blocks(node.children, writing);
  }
}

/** A link around blocks: one line when it is short, else its blocks and the link behind them. */
function card(node: PageElement, writing: Writing): void {
  if (node.size <= CARD) {
    writing.out.block(startSafe(inlineText([node], writing.options).trim()));
    return;
  }
  blocks(node.children, writing);
  const href = node.attributes.get("href") ?? "";
  const link = resolveLink(href, writing.options.base);
  if (link.kind === "address") writing.out.block(`[more](${link.url})`);
}

function list(node: PageElement, writing: Writing): void {
  const items = node.children.filter((child) => typeof child !== "string" && child.name === "li");
  const back = node.attributes.has("reversed");
  let number = wholeOf(node.attributes.get("start")) ?? (back ? items.length : 1);
  let first = true;
  const inner = { ...writing, nested: true };
  for (const child of node.children) {
    if (typeof child === "string" && child.trim() === "") continue;
    if (typeof child !== "string") number = wholeOf(child.attributes.get("value")) ?? number;
    const mark = node.name === "ol" ? `${number}. ` : "- ";
    writing.out.under({
      first: mark,
      rest: " ".repeat(mark.length),
      tight: !first || writing.nested === true,
    }, () => {
      if (typeof child !== "string" && child.name === "li") blocks(child.children, inner);
      else blocks([child], inner);
    });
    number += back ? -1 : 1;
    first = false;
  }
}

/** A number as lists have it. */
function wholeOf(said = ""): number | undefined {
  const number = Number(said);
  return /^-?\d{1,9}$/.test(said.trim()) ? number : undefined;
}

function table(node: PageElement, writing: Writing): void {
  const { caption, cells } = tableRows(node, writing.options);
  const wide = cells.some((row) => row.length > 1);
  if (!wide || cells.some((row) => row.some(holdsBlocks))) {
    // A table of one column, or of blocks, is there for the layout.
    for (const row of cells) for (const cell of row) blocks(cell.children, writing);
    return;
  }
  const rows = tableTexts(cells, writing.options);
  if (caption !== "") writing.out.block(caption);
  const columns = rows.reduce((most, texts) => Math.max(most, texts.length), 0);
  if (columns === 0) return;
  const line = (texts: readonly string[]): string =>
    `| ${Array.from({ length: columns }, (_, at) => texts[at] ?? "").join(" | ")} |`;
  const [head, ...rest] = rows.map(line);
  const rule = `| ${Array.from({ length: columns }, () => "---").join(" | ")} |`;
  writing.out.block([head ?? "", rule, ...rest].join("\n"));
}

/** A fence longer than any run of backticks within. */
function fenced(code: string): string {
  const longest = (code.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(Math.min(longest + 1, 200));
  return `${fence}\n${code.replace(/^\n/, "").trimEnd()}\n${fence}`;
}

/** Text that would begin a heading, a list, a quote or a fence is kept text. */
function startSafe(text: string): string {
  return text.replace(/^(?=(?:#{1,6}|[-+]|>|~{3,}|={3,})(?:\s|$|>))/gm, "\\").replace(
    /^(\d{1,9})([.)])(?=\s)/gm,
    "$1\\$2",
  );
}

// Collects Markdown: blocks with blank lines between them, under the marks of lists and quotes.

/** Where Markdown is written to. */
interface MarkdownOut {
  /** A block of one or more lines, set apart by blank lines. */
  block(text: string): void;
  /** Writes what `write` writes with `first` before its first line and `rest` before the others. */
  under(
    marks: { readonly first: string; readonly rest: string; readonly tight: boolean },
    write: () => void,
  ): void;
  /** Whether enough was written. */
  full(): boolean;
  text(): string;
}

/** Most levels of lists and quotes that are marked: deeper ones lie on the deepest. */
const MARKED = 8;

/** Makes a collector that is full after `most` characters. */
function makeMarkdownOut(most: number): MarkdownOut {
  const lines: string[] = [];
  let size = 0;
  let prefix = "";
  let pending: string | undefined;
  let levels = 0;
  let tight = false;
  let written = false;

  const line = (text: string): void => {
    if (size > most) return;
    const full = (pending ?? prefix) + text;
    pending = undefined;
    lines.push(text === "" ? full.trimEnd() : full);
    size += full.length + 1;
  };

  const block = (text: string): void => {
    if (text.trim() === "") return;
    if (written && pending === undefined && !tight) line("");
    for (const part of text.split("\n")) line(part);
    written = true;
    tight = false;
  };

  return Object.freeze({
    block,
    under: (
      marks: { readonly first: string; readonly rest: string; readonly tight: boolean },
      write: () => void,
    ) => {
      if (levels >= MARKED) return write();
      if (written && pending === undefined && !marks.tight) line("");
      const outer = prefix;
      const before = lines.length;
      levels += 1;
      pending = (pending ?? prefix) + marks.first;
      prefix = outer + marks.rest;
      tight = false;
      write();
      levels -= 1;
      prefix = outer;
      pending = undefined;
      if (lines.length > before) written = true;
    },
    full: () => size > most,
    text: () => lines.join("\n").replace(/\n{3,}/g, "\n\n").trim(),
  });
}

// Reads a table element into rows of cells, and cells into texts.

/** A table's rows of cells, those in its head, body and foot in order. */
interface TableContent {
  readonly caption: string;
  readonly cells: readonly (readonly PageElement[])[];
}

const MAX_COLUMNS = 50;
const MAX_ROWS = 65_534;
const LONG_CELL = 2_000;

/** Reads the rows of a table. */
function tableRows(table: PageElement, options: InlineOptions): TableContent {
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
function tableTexts(
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
      if (texts.length >= MAX_COLUMNS) {
        left += 1;
        continue;
      }
      const below = spanOf(cell, "rowspan", MAX_ROWS) - 1;
      const columns = spanOf(cell, "colspan", MAX_COLUMNS);
      const said = inlineText(cell.children, options).replace(/\s+/g, " ").replaceAll("|", "\\|");
      for (let at = 0; at < columns && texts.length < MAX_COLUMNS; at += 1) {
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
function holdsBlocks(cell: PageElement): boolean {
  if (cell.size > LONG_CELL) return true;
  return cell.children.some((child) => typeof child !== "string" && LARGE.test(child.name));
}

const LARGE = /^(?:table|ul|ol|dl|pre|blockquote|h[1-6]|section|article)$/;

function isCell(node: PageElement | string): node is PageElement {
  return typeof node !== "string" && (node.name === "td" || node.name === "th");
}
