/** Names of pages within a statement become links. @module */
import { escapeLine, linkShown } from "../markdown/mod.ts";

/** A page that statements may name. */
export interface NamedPage {
  readonly name: string;
  readonly title: string;
}

/** Most links in one statement. */
const MOST = 6;

/** The statement as Markdown: escaped, with the first mention of each page as a link. */
export function linkNames(text: string, pages: readonly NamedPage[]): string {
  const lower = text.toLowerCase();
  // Where folding changes lengths, places in the one are no places in the other.
  if (lower.length !== text.length) return escapeLine(text);
  const spans: { at: number; end: number; name: string }[] = [];
  for (const { name, title } of [...pages].sort((a, b) => b.title.length - a.title.length)) {
    if (spans.length >= MOST || title.length < 3) continue;
    const at = wordAt(lower, title.toLowerCase());
    const end = at + title.length;
    if (at < 0 || spans.some((span) => at < span.end && span.at < end)) continue;
    spans.push({ at, end, name });
  }
  spans.sort((a, b) => a.at - b.at);
  let [out, from] = ["", 0];
  for (const { at, end, name } of spans) {
    const shown = linkShown(text.slice(at, end));
    out += spaced(text.slice(from, at)) + (shown === name ? `[[${name}]]` : `[[${name}|${shown}]]`);
    from = end;
  }
  return out + spaced(text.slice(from));
}

function wordAt(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) return -1;
  const letter = /[\p{L}\p{N}]/u;
  // Scripts without spaces have no edges of words.
  if (!/^[\x20-\x7e]+$/.test(word)) return at;
  const edge = !letter.test(text.charAt(at - 1)) && !letter.test(text.charAt(at + word.length));
  return edge ? at : -1;
}

/** {@link escapeLine} of a piece, which keeps the spaces at its ends. */
function spaced(piece: string): string {
  const inner = escapeLine(piece);
  return (/^\s/.test(piece) && inner !== "" ? " " : "") + inner +
    (/\s$/.test(piece) && piece !== "" ? " " : "");
}
