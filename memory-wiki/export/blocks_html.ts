/** A page's body as HTML, block by block, by the reader that the lint and the store use. @module */
import { type Block, blocksOf } from "../markdown/blocks.ts";
import { type Piece, piecesOf, plainLine } from "../markdown/inline.ts";
import { escapeHtml } from "./document_html.ts";

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

// The inline marks of a page as HTML: links resolved within the site, everything else escaped.

/** What a page's links and footnotes lead to. Hrefs are escaped already. */
export interface InlineLinks {
  /** Of `[[target]]`: where it leads, and as what it is shown; text alone where it leads nowhere. */
  wiki(target: string, shown: string): { readonly href?: string; readonly text: string };
  /** Of `[text](url)`; undefined: the text alone. */
  url(url: string): { readonly href: string; readonly outward: boolean } | undefined;
  /** Of a footnote's mark; undefined: not defined. Each call is one more reference. */
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

/** `text`, one block's, as HTML in which every element is closed. Time: linear in the text. */
export function inlineHtml(text: string, links: InlineLinks): string {
  const pieces = piecesOf(text);
  const targets = targetsOf(pieces);
  const left = countsOf(pieces);
  const open: Open[] = [];
  const out: string[] = [];
  /** How many brackets of links are open: only the outermost is a link, so the stack stays short. */
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
      // Tags and comments do nothing here, and what would be hidden elsewhere is shown.
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

/** The target of each opening bracket that begins a link, by the bracket's place. */
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

/** How often each mark of emphasis is still to come: one without a partner is shown as it is. */
function countsOf(pieces: readonly Piece[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const piece of pieces) {
    if (piece.kind !== "mark" || !Object.hasOwn(TAGS, piece.text)) continue;
    counts.set(piece.text, (counts.get(piece.text) ?? 0) + 1);
  }
  return counts;
}
