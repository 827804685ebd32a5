/**
 * A page's text cut into passages: whole lines, along headings and paragraphs. Larger ones than of sources: pages are short, and a
 * heading or a quotation by itself answers nothing.
 * @module
 */
import { onlyLinks } from "../markdown/claims.ts";
import { piecesOf } from "../markdown/inline.ts";
import { termsOf } from "./terms.ts";

/** One passage of a page. Lines count from 1. */
export interface Section {
  readonly startLine: number;
  readonly endLine: number;
  /** Headings above it and its own, outermost first. */
  readonly headings: readonly string[];
  /** Its words, joined by spaces. */
  readonly terms: string;
}

/** A passage that is longer ends at the next blank line. */
const ENOUGH = 900;
/** And here in any case. UTF-16 code units. */
const MAX = 1_600;
/** A heading begins a passage of its own unless what is before it is shorter. */
const FEWEST = 120;
const MAX_HEADINGS = 8;
const MAX_HEADING = 256;
/** What one passage keeps of a line without an end. */
const MAX_TEXT = 20_000;
const MAX_FRONT = 400;

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const NOTE = /^ {0,3}\[\^[^\]]{1,64}\]:/;
const SELF = /^\*Extracted by rules\b.*\*$/;

/** What the extractive ingest says of itself. */
export function isAboutItself(line: string): boolean {
  return SELF.test(line.slice(0, MAX));
}

/** What answers no question about its page: where a claim comes from, what rules say of themselves, links alone. */
function isApart(line: string): boolean {
  const start = line.slice(0, MAX);
  return NOTE.test(start) || SELF.test(start) ||
    (start.includes("[[") && onlyLinks(piecesOf(start)));
}

/** Lines of front matter with its two marks: a picture of what the store knows itself. */
function frontLines(lines: readonly string[]): number {
  if (lines[0] !== "---") return 0;
  const end = lines.indexOf("---", 1);
  return end < 0 || end > MAX_FRONT ? 0 : end + 1;
}

/** Splits the headings of a chunk. */
export function headingsOf(heading: string): readonly string[] {
  if (heading === "") return [];
  return heading.split(" > ").slice(-MAX_HEADINGS).map((each) => each.slice(0, MAX_HEADING));
}

/** Cuts `text`. Passages come in order, do not overlap, and leave out front matter and what is blank. */
export function sectionsOf(text: string): readonly Section[] {
  const lines = text.split("\n");
  const sections: Section[] = [];
  const path: { readonly level: number; readonly text: string }[] = [];
  let kept: string[] = [];
  let headings: readonly string[] = [];
  let size = 0;
  let says = false;
  let from = 0;
  let last = 0;
  let fence: string | undefined;

  const end = (): void => {
    // Headings with nothing beneath them answer nothing, where there is more than they.
    if (size > 0 && (says || sections.length === 0)) {
      const terms = termsOf(kept.join("\n").slice(0, MAX_TEXT)).join(" ");
      sections.push({ startLine: from, endLine: last, headings, terms });
    }
    kept = [];
    size = 0;
    says = false;
  };
  for (let n = frontLines(lines) + 1; n <= lines.length; n++) {
    const line = lines[n - 1] ?? "";
    const mark = FENCE.exec(line)?.[0].trimStart().slice(0, 3);
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
    const heading = fence === undefined ? HEADING.exec(line.slice(0, MAX)) : null;
    const blank = line.trim() === "";
    if (fence === undefined && isApart(line)) continue;
    if (heading !== null) {
      // A title over a few words stays with what follows it.
      if (size >= FEWEST) end();
      const level = (heading[1] ?? "").length;
      while ((path.at(-1)?.level ?? 0) >= level) path.pop();
      path.push({ level, text: (heading[2] ?? "").slice(0, MAX_HEADING) });
    } else if (size > 0 && (size + line.length > MAX || (blank && size >= ENOUGH))) end();
    if (blank && size === 0) continue;
    if (size === 0) from = n;
    // Of several, the last: what most of the passage stands under.
    headings = path.slice(-MAX_HEADINGS).map((each) => each.text);
    kept.push(line);
    size += line.trim().length;
    if (!blank && heading === null) says = true;
    if (!blank) last = n;
  }
  end();
  return sections;
}
