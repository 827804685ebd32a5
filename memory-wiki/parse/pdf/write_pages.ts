/** Writes pages as text: a heading for each, paragraphs apart, words that a line broke made whole. @module */
import type { PdfPage } from "./read_pdf.ts";

/** Letters this much larger than those of the text are a heading's. */
const LARGER = 1.2;
const LONG_HEADING = 160;

/** Writes at most `most` characters, and says whether there were more. */
export function writePages(
  pages: readonly PdfPage[],
  most: number,
): { readonly text: string; readonly cut: boolean } {
  const body = sizeOfText(pages);
  const out: string[] = [];
  let size = 0;
  for (const { number, lines } of pages) {
    if (size > most) return { text: out.join("\n"), cut: true };
    if (out.length > 0 && out.at(-1) !== "") out.push("");
    out.push(`## Page ${number}`, "");
    size += 16;
    let inHeading = false;
    let first = true;
    for (const line of lines ?? []) {
      const heading = line.size > body * LARGER && line.text.length <= LONG_HEADING &&
        /\p{L}/u.test(line.text);
      if (!first && (line.apart || heading || inHeading) && out.at(-1) !== "") out.push("");
      const text = heading ? `### ${line.text}` : line.text;
      const before = out.at(-1) ?? "";
      if (!heading && !line.apart && !first && isBroken(before, line.text)) join(out, line.text);
      else out.push(text);
      size += text.length + 1;
      inHeading = heading;
      first = false;
    }
  }
  return { text: out.join("\n"), cut: false };
}

/** The size that most characters have. */
function sizeOfText(pages: readonly PdfPage[]): number {
  const counts = new Map<number, number>();
  for (const { lines } of pages) {
    for (const { size, text } of lines ?? []) {
      const rounded = Math.round(size * 2) / 2;
      counts.set(rounded, (counts.get(rounded) ?? 0) + text.length);
    }
  }
  let [best, most] = [Infinity, 0];
  for (const [size, count] of counts) if (count > most) [best, most] = [size, count];
  return best;
}

/** A word that was broken at the line's end: both parts in small letters. */
function isBroken(before: string, line: string): boolean {
  return /\p{Ll}-$/u.test(before) && /^\p{Ll}/u.test(line);
}

function join(out: string[], line: string): void {
  const [word = ""] = line.split(" ", 1);
  out.push(`${(out.pop() ?? "").slice(0, -1)}${word}`);
  const rest = line.slice(word.length).trimStart();
  if (rest !== "") out.push(rest);
}
