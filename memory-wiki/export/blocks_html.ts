/** Renders a page's body as HTML, with the block parser of lint and store. Used by page_html.ts. @module */
import { type Block, blocksOf } from "../markdown/blocks.ts";
import { type Piece, piecesOf, plainLine } from "../markdown/inline.ts";
import { escapeHtml } from "./document_html.ts";

const MAX_LISTS = 8;
const MAX_CELLS = 64;

/** HTML of `body` without footnote definitions, which stand at the end of the page. */
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
    const nested = top !== undefined && block.level > top.indent + 1 && lists.length < MAX_LISTS;
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
    // Only the page's title is an h1.
    const tag = `h${Math.min(6, level + 1)}`;
    return `<${tag} id="${headingId(plainLine(text))}">${inlineHtml(text, links)}</${tag}>`;
  }
  if (kind === "code") return `<pre><code>${escapeHtml(unfenced(text))}</code></pre>`;
  if (kind === "comment") return `<pre class="raw">${escapeHtml(text)}</pre>`;
  return `<p>${inlineHtml(text, links)}</p>`;
}

/** The id of a heading. The prefix `h-` prevents a clash with the site's own elements. */
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
  const cells = cellsOf(row).slice(0, MAX_CELLS);
  return `<tr>${cells.map((cell) => `<${tag}>${inlineHtml(cell, links)}</${tag}>`).join("")}</tr>`;
}

/** Cells of a table row, separated by `|` except after a backslash and within code or a `[[link]]`. */
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

// Renders inline Markdown as HTML: links resolved within the site, everything else escaped.

/** Resolves links and footnotes. Hrefs are escaped. */
export interface InlineLinks {
  /** `[[target]]`: address and text; only text for an unresolved target. */
  wiki(target: string, shown: string): { readonly href?: string; readonly text: string };
  /** `[text](url)`; undefined: only the text is shown. */
  url(url: string): { readonly href: string; readonly outward: boolean } | undefined;
  /** A footnote reference; undefined for an undefined note. Each call counts as another reference. */
  note(
    name: string,
  ): { readonly href: string; readonly id: string; readonly number: number } | undefined;
}

const TAGS: Readonly<Record<string, readonly string[]>> = Object.freeze({
  "*": ["em"],
  "_": ["em"],
  "**": ["strong"],
  "__": ["strong"],
  "***": ["em", "strong"],
  "___": ["em", "strong"],
  "~~": ["del"],
});

interface Open {
  readonly mark: string;
  readonly tags: readonly string[];
}

/** HTML of one block's text, with every element closed. Linear time. */
export function inlineHtml(text: string, links: InlineLinks): string {
  const pieces = piecesOf(text);
  const targets = targetsOf(pieces);
  const left = countsOf(pieces);
  const open: Open[] = [];
  const out: string[] = [];
  /** Depth of nested link brackets: only the outermost becomes a link. */
  let brackets = 0;

  const shut = (until: number): void => {
    while (open.length > until) {
      for (const tag of (open.pop()?.tags ?? []).toReversed()) out.push(`</${tag}>`);
    }
  };
  const emphasis = (mark: string): void => {
    left.set(mark, (left.get(mark) ?? 1) - 1);
    const link = open.findLastIndex((one) => one.mark === "[");
    const at = open.findLastIndex((one) => one.mark === mark);
    if (at > link) shut(at);
    else if (at === -1 && (left.get(mark) ?? 0) > 0) {
      const tags = TAGS[mark] ?? [];
      open.push({ mark, tags });
      for (const tag of tags) out.push(`<${tag}>`);
    } else out.push(escapeHtml(mark));
  };

  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === "text") out.push(escapeHtml(piece.text));
    else if (piece.kind === "code") out.push(`<code>${escapeHtml(piece.text)}</code>`);
    else if (piece.kind === "note") out.push(noteHtml(piece.name, links));
    else if (piece.kind === "link") {
      const { href, text: shown } = links.wiki(piece.target, piece.shown);
      const safe = escapeHtml(shown);
      out.push(
        href === undefined || brackets > 0 ? safe : `<a href="${href}">${safe}</a>`,
      );
    } else if (Object.hasOwn(TAGS, piece.text)) emphasis(piece.text);
    else if (piece.text === "[") {
      brackets += 1;
      if (brackets > 1) continue;
      const to = links.url(targets.get(index) ?? "");
      open.push({ mark: "[", tags: to === undefined ? [] : ["a"] });
      if (to !== undefined) {
        out.push(
          `<a href="${to.href}"${to.outward ? ' rel="noreferrer noopener" class="out"' : ""}>`,
        );
      }
    } else if (piece.text.startsWith("](")) {
      brackets -= 1;
      if (brackets === 0) shut(open.findLastIndex(({ mark }) => mark === "["));
    } else if (piece.text !== "!") {
      // HTML tags and comments are shown as text.
      out.push(`<code class="raw">${escapeHtml(piece.text)}</code>`);
    }
  }
  shut(0);
  return out.join("");
}

function noteHtml(name: string, links: InlineLinks): string {
  const note = links.note(name);
  return note === undefined
    ? `<sup class="lost">[${escapeHtml(name)}?]</sup>`
    : `<sup id="${note.id}"><a href="${note.href}">[${note.number}]</a></sup>`;
}

/** Link targets by the index of their opening bracket. */
function targetsOf(pieces: readonly Piece[]): ReadonlyMap<number, string> {
  const targets = new Map<number, string>();
  const brackets: number[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== "mark") continue;
    if (piece.text === "[") brackets.push(index);
    else if (piece.text.startsWith("](")) {
      const opening = brackets.pop();
      const inner = piece.text.slice(2, -1).replace(/[ \t]+"[^"]*"$/, "");
      if (opening !== undefined) targets.set(opening, inner.replace(/^<(.*)>$/, "$1"));
    }
  }
  return targets;
}

/** Remaining occurrences of each emphasis mark: one without a partner is shown as text. */
function countsOf(pieces: readonly Piece[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const piece of pieces) {
    if (piece.kind !== "mark" || !Object.hasOwn(TAGS, piece.text)) continue;
    counts.set(piece.text, (counts.get(piece.text) ?? 0) + 1);
  }
  return counts;
}
