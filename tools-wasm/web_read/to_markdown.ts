/** Writes a page's tree as Markdown. @module */
import { type InlineOptions, inlineText, plain } from "./inline.ts";
import { makeMarkdownOut, type MarkdownOut } from "./markdown_out.ts";
import type { PageElement, PageNode } from "./page_tree.ts";
import { resolveLink } from "./resolve_link.ts";
import { holdsBlocks, tableRows, tableTexts } from "./table.ts";

/** How a page is written. */
export interface MarkdownOptions extends InlineOptions {
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
