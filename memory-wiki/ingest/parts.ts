/** How a source is split for a model: whole lines, as many as its context holds. @module */
import { CHARS_A_TOKEN } from "../../contracts/tokens.ts";

/** Most of one part, so that a model attends to all of it: lines, and tokens. */
const MOST_LINES = 400;
const MOST_TOKENS = 6_000;
/** A longer line is shown by its beginning, characters. */
const LINE_CHARS = 2_000;
/** Room for instructions, schema and the pages that are shown. */
const OVERHEAD_TOKENS = 3_500;
/** Least context that a part and its answer fit into. */
export const LEAST_CONTEXT = 6_000;
/** Most tokens of an answer. */
const MOST_ANSWER = 4_096;

/** Lines `from` to `to` of a source's text. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/**
 * Estimates a text's tokens: four ASCII characters a token, as everywhere, and one for each other character, since
 * scripts without spaces take one or more.
 */
export function tokensOf(text: string): number {
  let others = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x24f) others++;
  return Math.ceil((text.length - others) / CHARS_A_TOKEN) + others;
}

/** Tokens that an answer may take in a context of so many. */
export function answerTokens(contextTokens: number): number {
  return Math.min(MOST_ANSWER, Math.floor(contextTokens / 4));
}

/** A line as it is shown. */
export function shownLine(line: string): string {
  return line.length <= LINE_CHARS ? line : `${line.slice(0, LINE_CHARS)} [line cut]`;
}

/** Splits lines into parts that fit, at an empty line or a heading where one is near. */
export function partsOf(lines: readonly string[], contextTokens: number): readonly Part[] {
  const room = contextTokens - OVERHEAD_TOKENS - answerTokens(contextTokens);
  const most = Math.max(500, Math.min(MOST_TOKENS, room));
  const parts: Part[] = [];
  for (let start = 0; start < lines.length;) {
    let tokens = 0;
    let end = start;
    while (end < lines.length && end - start < MOST_LINES) {
      // Number, bar and line feed are shown with it.
      const cost = tokensOf(shownLine(lines[end] ?? "")) + 3;
      if (end > start && tokens + cost > most) break;
      tokens += cost;
      end++;
    }
    if (end < lines.length) end = softEnd(lines, start, end);
    parts.push({ from: start + 1, to: end });
    start = end;
  }
  return parts.filter(({ from, to }) =>
    lines.slice(from - 1, to).some((line) => line.trim() !== "")
  );
}

/** Where a part that must end is better ended: past its half, before a heading, else after an empty line. */
function softEnd(lines: readonly string[], start: number, end: number): number {
  const least = start + Math.ceil((end - start) / 2);
  for (let at = end; at > least; at--) if (/^#{1,6} /.test(lines[at] ?? "")) return at;
  for (let at = end; at > least; at--) if ((lines[at - 1] ?? "").trim() === "") return at;
  return end;
}
