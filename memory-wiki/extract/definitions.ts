/** Finds definitions in a text by their form or by the pattern of a sentence. @module */
import {
  type Block,
  cellsOf,
  codeSpan,
  definitionForm,
  escapePart,
  makeLineCounter,
  type Piece,
  piecesOf,
  plainLine,
  sentencesOf,
} from "../markdown/mod.ts";
import { isUnspaced, STOP_WORDS } from "./words.ts";

export interface Definition {
  /** As written. */
  readonly term: string;
  /** The defining sentences; the first begins with the term. */
  readonly sentences: readonly Sentence[];
  /** `form`: formatted as a definition, such as `**term**: …`; `pattern`: "A term is …". */
  readonly by: "form" | "pattern";
  /** Whether it is a row of a table with a column of terms. */
  readonly row?: true;
}

/** Sentences quoted per definition. */
const MAX_SENTENCES = 3;
const NEXT_FORM = /(?<=[.!?;]\s{1,4})\*\*[^*\n]{2,60}\*\*(?: \([^()\n]{0,80}\))?:\s/g;
const IS =
  /^(?:(An?|The) )?(["“'‘]?)([\p{L}][\p{L}\p{N}'’_-]{0,40}(?: [\p{L}\p{N}][\p{L}\p{N}'’_-]{0,40}){0,3})["”'’]? (?:is|are|means|denotes|refers to|stands for) (?:an? |the |one |any |every |what |whoever |how |those |where )/u;
const UNSPACED_IS = /^([\p{L}\p{N}]{2,12}?)(?:とは|是指|是一种|是一種|は、|指的是)/u;
/** First words of sentences that define nothing. */
const NO_TERM: ReadonlySet<string> = new Set(
  ("it this that these those there here he she they we you i what which who each every all some any none nothing " +
    "everything anything something both one another other others such if when where while because since so but and or " +
    "now then only first second third last next following above below answer question result results reason reasons " +
    "goal goals purpose idea point example examples note problem thing things way ways rest").split(
      " ",
    ),
);
/** Bold words before a colon that introduce a paragraph rather than define a term. */
const NO_LEAD: ReadonlySet<string> = new Set(
  ("note notes warning caution tip hint important example examples e.g see see also todo fixme question answer why how " +
    "what when where who summary result results input output inputs outputs usage default defaults required optional " +
    "returns parameters arguments options pros cons problem solution context choice cost decision status date author " +
    "authors version step before after update info danger remark remarks first second third finally yes no in short")
    .split(" "),
);

/** Definitions by form in a paragraph or item, which may hold several. */
export function formDefinitions(block: Block): readonly Definition[] {
  if (block.kind !== "item" && block.kind !== "paragraph") return [];
  const starts = [0, ...[...block.text.matchAll(NEXT_FORM)].map(({ index }) => index)];
  const lineAt = makeLineCounter(block.text, block.line);
  return starts.flatMap((start, at): readonly Definition[] => {
    const text = block.text.slice(start, starts[at + 1]);
    const form = definitionForm(text);
    if (form === undefined) return [];
    const term = plainLine(form.term);
    if (term === "" || NO_LEAD.has(term.toLowerCase())) return [];
    const sentences = sentencesOfBlock(text, lineAt(start)).slice(0, MAX_SENTENCES);
    return sentences.length === 0 ? [] : [{ term, sentences, by: "form" as const }];
  });
}

/** The definition in a table row whose first column names terms. */
export function rowDefinition(block: Block): Definition | undefined {
  const cells = cellsOf(block.text);
  const term = plainLine(cells[0] ?? "");
  const said = (cells[1] ?? "").trim();
  if (term === "" || term.length > 80 || said === "") return undefined;
  const [sentence] = sentencesOfBlock(`${(cells[0] ?? "").trim()}: ${said}`, block.line);
  return sentence === undefined
    ? undefined
    : { term, sentences: [sentence], by: "form", row: true };
}

/** The definition in a sentence of the form "A lease is a grant …". */
export function patternDefinition(sentence: Sentence): Definition | undefined {
  const { text } = sentence;
  if (text.length > 400) return undefined;
  const unspaced = isUnspaced(text.slice(0, 12)) ? UNSPACED_IS.exec(text)?.[1] : undefined;
  const found = unspaced === undefined ? IS.exec(text) : null;
  const term = unspaced ?? found?.[3];
  if (term === undefined) return undefined;
  const words = term.toLowerCase().split(" ");
  if (words.some((word) => NO_TERM.has(word)) || words.every((word) => STOP_WORDS.has(word))) {
    return undefined;
  }
  // "The lock is the …" describes one lock; "A lock is …" and "Locks are …" define locks.
  if (found?.[1] === "The" && !/^\p{Lu}/u.test(term)) return undefined;
  return { term, sentences: [sentence], by: "pattern" };
}

/** A sentence of a source. */
export interface Sentence {
  /** Plain text on one line. */
  readonly text: string;
  /** Escaped Markdown on one line, without links, citations or blocks. Computed on demand. */
  quote(): string;
  readonly startLine: number;
  readonly endLine: number;
}

type Segment = { readonly code: boolean; text: string; readonly start: number };

/** Characters of a quote; longer sentences are cut. */
const MAX_QUOTE = 600;

/** Sentences of a block's text, which begins on `line`. `plain`: the text has no Markdown. */
export function sentencesOfBlock(text: string, line: number, plain = false): readonly Sentence[] {
  const segments = segmentsOf(plain ? [{ kind: "text", text }] : piecesOf(text));
  const whole = segments.map((segment) => segment.text).join("");
  // A stop within code does not end a sentence. Digits as placeholders, since they may begin a sentence and
  // form no abbreviation.
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

/** Text and code with their offsets; adjacent text is joined. */
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
