/** Extracts a page's claims: its statements with their footnotes. @module */
import type { Claim } from "../../contracts/memory/mod.ts";
import type { Block } from "./blocks.ts";
import { type Piece, piecesOf, plainOf } from "./inline.ts";

/** Footnotes per claim; further ones are ignored. */
const MAX_NOTES = 64;
const WORDS = /[\p{L}\p{N}]/u;

/**
 * Claims of the blocks, in order. No claims are headings, code, footnotes, comments, table headers,
 * questions, items with links only, introductions of a list that end in a colon, titles of callouts, and
 * remarks about the page, which are paragraphs in italics.
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
    // A footnote behind the full stop belongs to the sentence before.
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

/** A footnote at the end of a paragraph applies to all sentences since the previous footnote. */
function spread(claims: { names: readonly string[] }[]): void {
  const last = claims.at(-1);
  if (last === undefined || last.names.length === 0) return;
  for (let at = claims.length - 2; at >= 0; at -= 1) {
    const claim = claims[at];
    if (claim === undefined || claim.names.length > 0) return;
    claim.names = last.names;
  }
}

/** Whether a paragraph is entirely in italics: a remark about its page. */
function isRemark(text: string): boolean {
  const whole = text.trim();
  const mark = whole.charAt(0);
  if ((mark !== "*" && mark !== "_") || whole.length < 3 || !whole.endsWith(mark)) return false;
  const inner = whole.slice(1, -1);
  return !inner.startsWith(mark) && !/\s$/.test(inner) && !inner.includes(mark);
}

/** Whether only links are visible. */
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

// Line numbers of offsets, in one pass.

/**
 * Makes a function from offsets in `text`, in ascending order, to line numbers; the first line is `first`.
 * All calls together take linear time.
 */
export function makeLineCounter(text: string, first: number): (offset: number) => number {
  let line = first;
  let feed = text.indexOf("\n");
  return (offset): number => {
    while (feed >= 0 && feed < offset) {
      line += 1;
      feed = text.indexOf("\n", feed + 1);
    }
    return line;
  };
}

// Splits prose into sentences by rules, in linear time.

/** A sentence's range, without surrounding white space. */
interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(
  ("e.g i.e eg ie etc vs cf al approx ca nr figs sect ch vol p pp eds est dept univ inc ltd co corp gov mr mrs ms dr " +
    "prof st sr jr lt sgt hon resp incl excl jan feb apr aug sept oct nov z.b d.h u.a usw bzw vgl ggf evtl inkl zzgl " +
    "p.ex a.m p.m u.s u.k e.u ph.d b.a m.a").split(" "),
);
/** Abbreviations only before a number; otherwise words. */
const BEFORE_NUMBERS: ReadonlySet<string> = new Set(
  "no nos fig sec chap ed art abs mar jun jul sep dec mon tue wed thu fri sat sun max min rev"
    .split(" "),
);
/** Stops that need no white space behind them. */
const FULL = "。！？｡";
const HALF = ".!?…؟۔।॥።";
const CLOSERS = "\"'”’»›)]}」』】）〉》*_`";
const STOPS = new RegExp(`[${FULL}${HALF}]`, "gu");
const AFTER = CLOSERS + FULL + HALF;
const FULL_STOP = new RegExp(`[${FULL}]`, "u");
const LOWER = /^\p{Ll}/u;
const DIGITS_ONLY = /(?:^|\s|\()\d{1,3}$/;
const INITIAL = /(?:^|[\s(.])\p{Lu}$/u;
const LAST_WORD = /[\p{L}\p{N}.]{1,12}$/u;

/** Sentences of `text` in order; together they cover everything but white space between them. */
export function sentencesOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  let start = 0;
  const take = (end: number): void => {
    const span = trimmed(text, start, end);
    if (span !== undefined) spans.push(span);
    start = end;
  };

  STOPS.lastIndex = 0;
  for (let found = STOPS.exec(text); found !== null; found = STOPS.exec(text)) {
    const at = found.index;
    const end = afterClosers(text, at + 1);
    // INVARIANT: a run of stops is scanned once (test: "… time proportional to its length …").
    STOPS.lastIndex = end;
    if (ends(text, at, end, start)) take(end);
  }
  take(text.length);
  return spans;
}

function ends(text: string, at: number, end: number, start: number): boolean {
  const stop = text.charAt(at);
  if (FULL_STOP.test(text.slice(at, end))) return true;
  if (end < text.length && !/\s/.test(text.charAt(end))) return false;
  const next = text.slice(end, end + 8).trimStart();
  if (stop !== ".") return !LOWER.test(next) || next === "";
  if (next === "") return true;
  if (LOWER.test(next)) return false;
  const before = text.slice(Math.max(start, at - 14), at);
  const word = LAST_WORD.exec(before)?.[0].toLowerCase() ?? "";
  if (ABBREVIATIONS.has(word) || ABBREVIATIONS.has(word.replace(/^.*\./, "."))) return false;
  if (BEFORE_NUMBERS.has(word) && /^\p{N}/u.test(next)) return false;
  // "1. First" starts a list in prose; "in 1984. It" ends a sentence.
  if (DIGITS_ONLY.test(before) && at - start <= 4) return false;
  return !INITIAL.test(before);
}

function afterClosers(text: string, from: number): number {
  let end = from;
  while (end < text.length && AFTER.includes(text.charAt(end))) end += 1;
  return end;
}

function trimmed(text: string, from: number, to: number): Span | undefined {
  let [start, end] = [from, to];
  while (start < end && /\s/.test(text.charAt(start))) start += 1;
  while (end > start && /\s/.test(text.charAt(end - 1))) end -= 1;
  return end > start ? { start, end } : undefined;
}
