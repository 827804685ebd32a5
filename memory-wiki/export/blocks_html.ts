/** A page's body as HTML, block by block, by the reader that the lint and the store use. @module */
import { type Block, blocksOf } from "../markdown/blocks.ts";
import { plainLine } from "../markdown/inline.ts";
import { escapeHtml } from "./html.ts";
import { inlineHtml, type InlineLinks } from "./inline_html.ts";

const DEEPEST_LIST = 8;
const MOST_CELLS = 64;

/** HTML of `body`, without the definitions of footnotes, which the page shows at its end. */
export function blocksHtml(body: string, links: InlineLinks): string {
  const lines = body.split("\n");
  const out: string[] = [];
  const lists: { readonly indent: number; readonly tag: "ul" | "ol" }[] = [];
  let quote = 0;
  let inTable = false;

  const shutLists = (until = 0): void => {
    while (lists.length > until) out.push(`</li></${lists.pop()?.tag ?? "ul"}>`);
  };
  const shutTable = (): void => {
    if (inTable) out.push("</tbody></table></div>");
    inTable = false;
  };
  const quoteTo = (depth: number): void => {
    if (depth === quote) return;
    shutLists();
    shutTable();
    while (quote < depth) {
      out.push("<blockquote>");
      quote += 1;
    }
    while (quote > depth) {
      out.push("</blockquote>");
      quote -= 1;
    }
  };

  for (const block of blocksOf(lines)) {
    if (block.kind === "note") continue;
    quoteTo(block.quote);
    const ofTable = block.kind === "row" || block.kind === "header" || block.kind === "rule";
    if (block.kind !== "item") shutLists();
    if (!ofTable || block.kind === "header") shutTable();
    if (block.kind === "header") {
      inTable = true;
      out.push(
        `<div class="wide"><table><thead>${rowHtml(block.text, "th", links)}</thead><tbody>`,
      );
    } else if (block.kind === "row") {
      out.push(rowHtml(block.text, "td", links));
    } else if (block.kind === "rule") {
      if (!inTable) out.push("<hr>");
    } else if (block.kind === "item") {
      itemHtml(block, lines[block.line - 1] ?? "");
    } else out.push(plainBlock(block, links));
  }
  quoteTo(0);
  shutLists();
  shutTable();
  return out.join("\n");

  function itemHtml(block: Block, raw: string): void {
    const number = /^[\s>]*(\d{1,9})[.)]/.exec(raw)?.[1];
    const tag = number === undefined ? "ul" : "ol";
    while ((lists.at(-1)?.indent ?? 0) > block.level + 1) shutLists(lists.length - 1);
    const top = lists.at(-1);
    const nested = top !== undefined && block.level > top.indent + 1 && lists.length < DEEPEST_LIST;
    if (top !== undefined && !nested && top.tag === tag) out.push("</li>");
    else {
      if (top !== undefined && !nested) shutLists(lists.length - 1);
      lists.push({ indent: nested || top === undefined ? block.level : top.indent, tag });
      out.push(tag === "ul" ? "<ul>" : `<ol start="${Number(number)}">`);
    }
    out.push(`<li>${inlineHtml(block.text, links)}`);
  }
}

function plainBlock(block: Block, links: InlineLinks): string {
  const { kind, text, level } = block;
  if (kind === "heading") {
    // The page's own title is the only h1.
    const tag = `h${Math.min(6, level + 1)}`;
    return `<${tag} id="${headingId(plainLine(text))}">${inlineHtml(text, links)}</${tag}>`;
  }
  if (kind === "code") return `<pre><code>${escapeHtml(unfenced(text))}</code></pre>`;
  if (kind === "comment") return `<pre class="raw">${escapeHtml(text)}</pre>`;
  return `<p>${inlineHtml(text, links)}</p>`;
}

/** The id of a heading. Ids begin with `h-`, so that no page can name an element of the site's own. */
export function headingId(text: string): string {
  const words = text.normalize("NFKC").toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  return `h-${words.replaceAll(/^-|-$/g, "").slice(0, 80)}`;
}

function unfenced(text: string): string {
  const lines = text.split("\n");
  if (!/^(?:`{3,}|~{3,})/.test(lines[0] ?? "")) {
    return lines.map((line) => line.replace(/^(?: {4}|\t)/, "")).join("\n");
  }
  const last = /^(?:`{3,}|~{3,})\s*$/.test(lines.at(-1)?.trim() ?? "") ? -1 : lines.length;
  return lines.slice(1, lines.length > 1 ? last : 1).join("\n");
}

function rowHtml(row: string, tag: "td" | "th", links: InlineLinks): string {
  const cells = cellsOf(row).slice(0, MOST_CELLS);
  return `<tr>${cells.map((cell) => `<${tag}>${inlineHtml(cell, links)}</${tag}>`).join("")}</tr>`;
}

/** Cells of a table's row: `|` divides, but not after a backslash, nor within code or a `[[link]]`. */
function cellsOf(row: string): readonly string[] {
  const cells: string[] = [];
  let cell = "";
  for (const part of row.match(/\\[\s\S]|`[^`]*`|\[\[[^\]]*\]\]|[^\\`[|]+|[\s\S]/g) ?? []) {
    if (part !== "|") cell += part === "\\|" ? "|" : part;
    else {
      cells.push(cell.trim());
      cell = "";
    }
  }
  cells.push(cell.trim());
  const from = cells[0] === "" ? 1 : 0;
  return cells.slice(from, cells.length > from + 1 && cells.at(-1) === "" ? -1 : undefined);
}
