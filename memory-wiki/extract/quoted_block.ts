/** Sentences of a block of Markdown: as a reader sees them, as inert Markdown, and on which lines they stand. @module */
import {
  codeSpan,
  escapePart,
  makeLineCounter,
  type Piece,
  piecesOf,
  sentencesOf,
} from "../markdown/mod.ts";

/** One sentence of a source. */
export interface Sentence {
  /** Plain, on one line. */
  readonly text: string;
  /** Inert Markdown on one line: nothing in it links, cites, or begins a block. Made when asked for. */
  quote(): string;
  readonly startLine: number;
  readonly endLine: number;
}

type Segment = { readonly code: boolean; text: string; readonly start: number };

/** Sentences longer than this are cut in their quote, characters. */
const MAX_QUOTE = 600;

/** Sentences of a block's text that begins on `line`; `plain` for a text that has no marks of Markdown. */
export function sentencesOfBlock(text: string, line: number, plain = false): readonly Sentence[] {
  const segments = segmentsOf(plain ? [{ kind: "text", text }] : piecesOf(text));
  const whole = segments.map((segment) => segment.text).join("");
  // Stops within code end no sentence; a digit may begin one and is no abbreviation.
  const masked = segments.some(({ code }) => code)
    ? segments.map(({ code, text }) => code ? text.replace(/[^\n]/g, "0") : text).join("")
    : whole;

  const sentences: Sentence[] = [];
  const lineAt = makeLineCounter(whole, line);
  let first = 0;
  for (const { start, end } of sentencesOf(masked)) {
    while ((segments[first + 1]?.start ?? Infinity) <= start) first += 1;
    const from = first;
    sentences.push({
      text: whole.slice(start, end).replace(/\s+/g, " "),
      quote: () =>
        quoteOf(segments, from, start, Math.min(end, start + MAX_QUOTE)) +
        (end - start > MAX_QUOTE ? "…" : ""),
      startLine: lineAt(start),
      endLine: lineAt(end),
    });
  }
  return sentences;
}

/** Text and code with where they stand; what is next to each other and of one kind is one. */
function segmentsOf(pieces: readonly Piece[]): readonly Segment[] {
  const segments: Segment[] = [];
  let start = 0;
  for (const piece of pieces) {
    const text = piece.kind === "link"
      ? piece.shown
      : piece.kind === "note"
      ? ""
      : piece.kind === "mark"
      ? piece.text.replace(/[^\n]+/g, "")
      : piece.text;
    const code = piece.kind === "code";
    const last = segments.at(-1);
    if (last !== undefined && last.code === code && !code) last.text += text;
    else if (text !== "") segments.push({ code, text, start });
    start += text.length;
  }
  return segments;
}

function quoteOf(segments: readonly Segment[], first: number, start: number, end: number): string {
  let quote = "";
  for (let at = first; at < segments.length; at += 1) {
    const segment = segments[at];
    if (segment === undefined || segment.start >= end) break;
    const part = segment.text.slice(Math.max(0, start - segment.start), end - segment.start);
    quote += segment.code ? codeSpan(part) : escapePart(part, quote === "");
  }
  return quote.replace(/ +/g, " ").trim();
}
