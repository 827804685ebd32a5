/** Groups citations by source, so that each text is read once, however many pages cite it. @module */
import { cleared, colourSuffices } from "../../contracts/authority/mod.ts";
import type { Finding, Page, WikiSource } from "../../contracts/memory/mod.ts";
import { citationLine } from "../markdown/citation_line.ts";
import type { ReadPage } from "../markdown/page_text.ts";
import type { CitationUse, CitedSource, LintedStore, Span } from "./rule.ts";

/** Larger texts are not read as a whole; each cited passage is read separately. Bytes. */
const WHOLE_BYTES = 32 * 1024 * 1024;
/** Bytes of one cited passage. */
const QUOTE_BYTES = 256 * 1024;
/** For so few citations, separate passages are cheaper than the whole text. */
const MAX_SEPARATE = 4;

function linesOf(store: LintedStore, source: WikiSource): readonly string[] {
  if (source.lines === 0) return [];
  try {
    const lines = store.sources.lines(source, 1, source.lines, WHOLE_BYTES).split("\n");
    return lines.length < source.lines ? [] : lines;
  } catch {
    return []; // alteredSource tells that its file is gone
  }
}

/** A cited source, read on demand. */
export function makeCitedSource(
  store: LintedStore,
  source: WikiSource,
  uses: readonly CitationUse[],
): CitedSource {
  const current = source.state === "current" ? source : store.sources.current(source.key);
  let own: readonly string[] | undefined;
  let newer: readonly string[] | undefined;
  let search: ReturnType<typeof findMoved> | undefined;

  const quote = ({ startLine, endLine }: Span): string | undefined => {
    if (endLine > source.lines || startLine > endLine) return undefined;
    if (uses.length > MAX_SEPARATE && source.bytes <= WHOLE_BYTES) {
      own ??= linesOf(store, source);
      if (own.length >= endLine) return own.slice(startLine - 1, endLine).join("\n");
    }
    try {
      return store.sources.lines(source, startLine, endLine, QUOTE_BYTES);
    } catch {
      return undefined;
    }
  };
  const currentLines = (): readonly string[] =>
    newer ??= current === undefined ? [] : linesOf(store, current);

  return Object.freeze(
    {
      source,
      current,
      uses,
      quote,
      currentLines,
      moved(span) {
        if (current === undefined) return undefined;
        if (current.textDigest === source.textDigest) return span;
        const words = quote(span);
        if (words === undefined) return undefined;
        search ??= findMoved(currentLines());
        return search(words, span.startLine);
      },
    } satisfies CitedSource,
  );
}

// Finds cited words in another version of a text, on any line.

/** Consecutive words that identify a place in a text. */
const GRAM = 3;
/** Candidate places per passage. */
const MAX_PLACES = 64;

/** Words of a text with their lines, so that line breaks do not matter. */
function wordsOf(lines: readonly string[]): { words: string[]; lineOf: number[] } {
  const words: string[] = [];
  const lineOf: number[] = [];
  for (const [index, line] of lines.entries()) {
    for (const word of line.split(/\s+/u)) {
      if (word === "") continue;
      words.push(word);
      lineOf.push(index + 1);
    }
  }
  return { words, lineOf };
}

/**
 * Indexes `lines` and returns a search for the lines with exactly the words of a passage: the nearest to line
 * `near`, undefined for none. Linear in the text, then in each passage.
 */
function findMoved(
  lines: readonly string[],
): (passage: string, near: number) => Span | undefined {
  const { words, lineOf } = wordsOf(lines);
  const places = new Map<string, number[]>();
  for (const at of words.keys()) {
    const key = words.slice(at, at + GRAM).join(" ");
    const known = places.getOrInsert(key, []);
    if (known.length < MAX_PLACES) known.push(at);
  }
  return (passage, near) => {
    const wanted = passage.split(/\s+/u).filter((word) => word !== "");
    if (wanted.length === 0) return undefined;
    // A passage shorter than a gram must fill a whole line.
    const starts = wanted.length < GRAM
      ? shortPlaces(lines, wanted.join(" "))
      : places.get(wanted.slice(0, GRAM).join(" ")) ?? [];
    let best: Span | undefined;
    for (const at of starts) {
      const found = wanted.length < GRAM ? { startLine: at, endLine: at } : wholeAt(at);
      if (found !== undefined && (best === undefined || gap(found) < gap(best))) best = found;
    }
    return best;

    function gap(span: Span): number {
      return Math.abs(span.startLine - near);
    }
    function wholeAt(at: number): Span | undefined {
      for (const [index, word] of wanted.entries()) {
        if (words[at + index] !== word) return undefined;
      }
      const startLine = lineOf[at];
      const endLine = lineOf[at + wanted.length - 1];
      return startLine === undefined || endLine === undefined ? undefined : { startLine, endLine };
    }
  };
}

function shortPlaces(lines: readonly string[], passage: string): number[] {
  const found: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim().replaceAll(/\s+/gu, " ") !== passage) continue;
    found.push(index + 1);
    if (found.length === MAX_PLACES) break;
  }
  return found;
}

// Moves citations of an older version to the same words in the current one.

/** Whether a page may cite `current` without losing trust or becoming more confidential. */
export function mayMoveTo(
  current: Pick<WikiSource, "colour" | "label">,
  page: Pick<Page, "colour" | "label">,
): boolean {
  return cleared(current.label, page.label) && colourSuffices(current.colour, page.colour);
}

/** Rewrites the footnotes of the findings whose words are found again in a source of sufficient trust. */
export function moveCitations(
  store: LintedStore,
  page: Page,
  read: Pick<ReadPage, "body" | "bodyLine" | "citations">,
  findings: readonly Finding[],
): { readonly body: string; readonly sources: readonly WikiSource[] } {
  const lines = read.body.split("\n");
  const sources: WikiSource[] = [];
  const at = new Set(findings.map(({ line }) => line));
  for (const { note, digestPrefix, startLine, endLine, line } of read.citations) {
    const source = at.has(line) ? store.sources.byDigest(digestPrefix) : undefined;
    const definition = lines[line - read.bodyLine];
    if (source === undefined || definition === undefined) continue;
    const cited = makeCitedSource(store, source, []);
    const { current } = cited;
    if (current === undefined || current.id === source.id || !mayMoveTo(current, page)) continue;
    const span = cited.moved({ startLine, endLine });
    if (span === undefined) continue;
    const shown = /\]:[ \t]*\[((?:\\.|[^[\]\\])*)\]\(/u.exec(definition)?.[1] ?? current.text;
    lines[line - read.bodyLine] = citationLine({
      note,
      file: current.text,
      shown: shown.replaceAll(/\\(.)/gu, "$1"),
      digest: current.digest,
      ...span,
    });
    sources.push(current);
  }
  return { body: lines.join("\n"), sources };
}
