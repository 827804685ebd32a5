/** The inline marks of a page as HTML: links resolved within the site, everything else escaped. @module */
import { type Piece, piecesOf } from "../markdown/inline.ts";
import { escapeHtml } from "./html.ts";

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
