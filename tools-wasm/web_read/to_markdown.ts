/** Writes a page's tree as Markdown. @module */
import { type InlineOptions, inlineText, plain } from "./inline.ts";
import type { PageElement, PageNode } from "./page_tree.ts";
import { resolveLink } from "./resolve_link.ts";

/** How a page is written. */
interface MarkdownOptions extends InlineOptions {
  /** Names of elements to leave out. */
  readonly without: ReadonlySet<string>;
  /** Maximum characters of the output. */
  readonly most: number;
}

const INLINE = new Set(
  "#text a abbr acronym b bdi bdo big br button cite code data del dfn em font i img input ins kbd label mark math meter output progress q rp rt ruby s samp select small span strike strong sub sup textarea time tt u var wbr"
    .split(" "),
);
/** Maximum characters of a link around blocks that is written as one line. */
const CARD = 300;
/** Roles of elements around the content. */
const AROUND = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar".split(" "),
);

/** Writes `root` and its descendants. */
export function toMarkdown(root: PageElement, options: MarkdownOptions): string {
  const out = makeMarkdownOut(options.most);
  blocks(root.children, { out, options });
  return out.text();
}

interface Writing {
  readonly out: MarkdownOut;
  readonly options: MarkdownOptions;
  /** Whether the text belongs to a list item. */
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

/** A link around blocks: one line if short, else its blocks followed by the link. */
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

/** A number of a list item. */
function wholeOf(text = ""): number | undefined {
  const number = Number(text);
  return /^-?\d{1,9}$/.test(text.trim()) ? number : undefined;
}

function table(node: PageElement, writing: Writing): void {
  const { caption, cells } = tableRows(node, writing.options);
  const wide = cells.some((row) => row.length > 1);
  if (!wide || cells.some((row) => row.some(holdsBlocks))) {
    // A table of one column, or of blocks, only arranges the layout.
    for (const row of cells) for (const cell of row) blocks(cell.children, writing);
    return;
  }
  const rows = tableTexts(cells, writing.options);
  if (caption !== "") writing.out.block(caption);
  const columns = rows.reduce((max, texts) => Math.max(max, texts.length), 0);
  if (columns === 0) return;
  const line = (texts: readonly string[]): string =>
    `| ${Array.from({ length: columns }, (_, at) => texts[at] ?? "").join(" | ")} |`;
  const [head, ...rest] = rows.map(line);
  const rule = `| ${Array.from({ length: columns }, () => "---").join(" | ")} |`;
  writing.out.block([head ?? "", rule, ...rest].join("\n"));
}

/** A fence longer than any run of backticks inside. */
function fenced(code: string): string {
  const longest = (code.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
  const fence = "`".repeat(Math.min(longest + 1, 200));
  return `${fence}\n${code.replace(/^\n/, "").trimEnd()}\n${fence}`;
}

/** Escapes text that would begin a heading, a list, a quote or a fence. */
function startSafe(text: string): string {
  return text.replace(/^(?=(?:#{1,6}|[-+]|>|~{3,}|={3,})(?:\s|$|>))/gm, "\\").replace(
    /^(\d{1,9})([.)])(?=\s)/gm,
    "$1\\$2",
  );
}

// Collects Markdown: blocks with blank lines between them, inside the marks of lists and quotes.

/** Collects Markdown. */
interface MarkdownOut {
  /** Adds a block of one or more lines, set apart by blank lines. */
  block(text: string): void;
  /** Prefixes the output of `write`: `first` before its first line, `rest` before the others. */
  under(
    marks: { readonly first: string; readonly rest: string; readonly tight: boolean },
    write: () => void,
  ): void;
  /** Whether enough was written. */
  full(): boolean;
  text(): string;
}

/** Maximum marked levels of lists and quotes: deeper ones use the deepest mark. */
const MAX_MARKED = 8;

/** Makes a collector that is full after `max` characters. */
function makeMarkdownOut(max: number): MarkdownOut {
  const lines: string[] = [];
  let size = 0;
  let prefix = "";
  let pending: string | undefined;
  let levels = 0;
  let tight = false;
  let written = false;

  const line = (text: string): void => {
    if (size > max) return;
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
      if (levels >= MAX_MARKED) return write();
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
    full: () => size > max,
    text: () => lines.join("\n").replace(/\n{3,}/g, "\n\n").trim(),
  });
}

// Reads a table element into rows of cells, and cells into texts.

/** A table's rows of cells, from its head, body and foot in order. */
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
 * The texts of a table's cells, each in its column. A cell that spans columns or rows fills only
 * its first position.
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
      const content = inlineText(cell.children, options).replace(/\s+/g, " ").replaceAll(
        "|",
        "\\|",
      );
      for (let at = 0; at < columns && texts.length < MAX_COLUMNS; at += 1) {
        covered[texts.length] = below;
        texts.push(at === 0 ? content.trim() : "");
      }
    }
    skip();
    return left > 0 ? [...texts, `… ${left} more`] : texts;
  });
}

/** The number of columns or rows a cell covers; 0 in `rowspan` means all that follow. */
function spanOf(cell: PageElement, name: "colspan" | "rowspan", max: number): number {
  const span = Math.floor(Number(cell.attributes.get(name) ?? "1"));
  if (span === 0 && name === "rowspan") return max;
  return Math.min(max, Math.max(1, span || 1));
}

/** Whether a cell holds more than a line of a table can. */
function holdsBlocks(cell: PageElement): boolean {
  if (cell.size > LONG_CELL) return true;
  return cell.children.some((child) => typeof child !== "string" && BLOCK_NAMES.test(child.name));
}

const BLOCK_NAMES = /^(?:table|ul|ol|dl|pre|blockquote|h[1-6]|section|article)$/;

function isCell(node: PageElement | string): node is PageElement {
  return typeof node !== "string" && (node.name === "td" || node.name === "th");
}
