/**
 * Splits a page into passages of whole lines, along headings and paragraphs. Larger than those of sources:
 * pages are short, and a heading or quote alone answers nothing.
 * @module
 */
import { onlyLinks } from "../markdown/claims.ts";
import { piecesOf } from "../markdown/inline.ts";
import { termsOf } from "./terms.ts";

/** A passage of a page. Lines from 1. */
export interface Section {
  readonly startLine: number;
  readonly endLine: number;
  /** Headings above and its own, outermost first. */
  readonly headings: readonly string[];
  /** Its words, separated by spaces. */
  readonly terms: string;
}

/** Characters from which a passage ends at the next blank line. */
const FULL_SECTION = 900;
/** Maximum UTF-16 units. */
const MAX_SECTION = 1_600;
/** A heading starts a new passage unless the previous text is shorter. */
const MIN_SECTION = 120;
const MAX_HEADINGS = 8;
const MAX_HEADING = 256;
/** UTF-16 units indexed of a passage. */
const MAX_TEXT = 20_000;
const MAX_FRONT = 400;

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const NOTE = /^ {0,3}\[\^[^\]]{1,64}\]:/;
const SELF = /^\*Extracted by rules\b.*\*$/;

/** Whether a line is the remark of the extraction about its page. */
export function isAboutItself(line: string): boolean {
  return SELF.test(line.slice(0, MAX_SECTION));
}

/** Lines that answer nothing about the page: footnotes, remarks, links only. */
function isApart(line: string): boolean {
  const start = line.slice(0, MAX_SECTION);
  return NOTE.test(start) || SELF.test(start) ||
    (start.includes("[[") && onlyLinks(piecesOf(start)));
}

/** Number of front matter lines including marks; the store knows their content. */
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

/** Splits `text` into ordered, disjoint passages without front matter and blank lines. */
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
    // Drops headings without text, unless the page has nothing else.
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
    const heading = fence === undefined ? HEADING.exec(line.slice(0, MAX_SECTION)) : null;
    const blank = line.trim() === "";
    if (fence === undefined && isApart(line)) continue;
    if (heading !== null) {
      // A title over a few words stays with the following text.
      if (size >= MIN_SECTION) end();
      const level = (heading[1] ?? "").length;
      while ((path.at(-1)?.level ?? 0) >= level) path.pop();
      path.push({ level, text: (heading[2] ?? "").slice(0, MAX_HEADING) });
    } else if (size > 0 && (size + line.length > MAX_SECTION || (blank && size >= FULL_SECTION))) {
      end();
    }
    if (blank && size === 0) continue;
    if (size === 0) from = n;
    // Of several headings the last, which most of the passage belongs to.
    headings = path.slice(-MAX_HEADINGS).map((each) => each.text);
    kept.push(line);
    size += line.trim().length;
    if (!blank && heading === null) says = true;
    if (!blank) last = n;
  }
  end();
  return sections;
}
