/** The claims of a page: its statements, each with the footnotes that stand for it. @module */
import type { Claim } from "../../contracts/mod.ts";
import type { Block } from "./blocks.ts";
import { type Piece, piecesOf, plainOf } from "./inline.ts";
import { makeLineCounter } from "./line_counter.ts";
import { sentencesOf } from "./sentences.ts";

/** Footnotes of one claim that are told; what cites more cites nothing. */
const MAX_NOTES = 64;
const WORDS = /[\p{L}\p{N}]/u;

/**
 * Claims of the blocks, in their order. No claims: headings, code, footnotes, comments, table headers, questions,
 * items that hold links and nothing else, what leads to a list with a colon, the title of a callout, and remarks
 * about the page itself, which are paragraphs wholly in italics.
 */
export function claimsOf(blocks: readonly Block[]): readonly Claim[] {
  return blocks.flatMap((block, index) => {
    if (block.kind === "row") return rowClaims(block);
    if (block.kind !== "paragraph" && block.kind !== "item") return [];
    return proseClaims(block, blocks[index + 1]);
  });
}

function rowClaims(block: Block): readonly Claim[] {
  const { text, notes } = plainOf(piecesOf(block.text));
  const cells = text.split("|").map((cell) => cell.trim()).filter((cell) => cell !== "");
  if (!WORDS.test(cells.join(""))) return [];
  const names = distinct(notes.map(({ name }) => name));
  return [{ line: block.line, text: oneLine(cells.join(" | ")), notes: names }];
}

function proseClaims(block: Block, next: Block | undefined): readonly Claim[] {
  if (isRemark(block.text)) return [];
  const callout = block.quote > 0 && /^\[![\p{L}\p{N}-]{1,32}\]/u.test(block.text);
  const title = callout ? (block.text.split("\n", 1)[0] ?? "").length : 0;
  const pieces = piecesOf(block.text.slice(title));
  if (onlyLinks(pieces)) return [];
  const { text, masked, notes } = plainOf(pieces);
  const spans = sentencesOf(masked);
  const claims = spans.map((span) => ({ ...span, line: 0, names: [] as readonly string[] }));

  let index = 0;
  const lineAt = makeLineCounter(text, block.line);
  for (const claim of claims) {
    claim.line = lineAt(claim.start);
    const names: string[] = [];
    // A footnote after the full stop is still its sentence's.
    const end = claim === claims.at(-1) ? text.length : claim.end;
    for (; (notes[index]?.at ?? Infinity) <= end; index += 1) names.push(notes[index]?.name ?? "");
    claim.names = distinct(names);
  }
  if (!WORDS.test(text.slice(notes.at(-1)?.at ?? 0))) spread(claims);

  const leads = text.trimEnd().endsWith(":") &&
    (next?.kind === "item" || next?.kind === "header" || next?.kind === "code" ||
      (next?.quote ?? 0) > block.quote);
  return claims.flatMap(({ start, end, line, names }, at) => {
    const sentence = oneLine(text.slice(start, end));
    if (!WORDS.test(sentence) || /[?？؟]["'”’)\]]*$/.test(sentence)) return [];
    if (leads && at === claims.length - 1 && names.length === 0) return [];
    return [{ line, text: sentence, notes: names }];
  });
}

/** A footnote at the very end stands for the sentences since the one before it. */
function spread(claims: { names: readonly string[] }[]): void {
  const last = claims.at(-1);
  if (last === undefined || last.names.length === 0) return;
  for (let at = claims.length - 2; at >= 0; at -= 1) {
    const claim = claims[at];
    if (claim === undefined || claim.names.length > 0) return;
    claim.names = last.names;
  }
}

/** Whether a paragraph is a remark about its page: wholly in italics. */
function isRemark(text: string): boolean {
  const whole = text.trim();
  const mark = whole.charAt(0);
  if ((mark !== "*" && mark !== "_") || whole.length < 3 || !whole.endsWith(mark)) return false;
  const inner = whole.slice(1, -1);
  return !inner.startsWith(mark) && !/\s$/.test(inner) && !inner.includes(mark);
}

/** Whether nothing but links is shown. */
export function onlyLinks(pieces: readonly Piece[]): boolean {
  let depth = 0;
  let links = 0;
  for (const piece of pieces) {
    if (piece.kind === "link") links += 1;
    if (piece.kind === "note" || piece.kind === "code") return false;
    if (piece.kind === "mark" && piece.text === "[") depth += 1;
    if (piece.kind === "mark" && piece.text.startsWith("](")) {
      depth -= 1;
      links += 1;
    }
    if (piece.kind === "text" && depth === 0 && WORDS.test(piece.text)) return false;
  }
  return links > 0;
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(0, MAX_NOTES);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
