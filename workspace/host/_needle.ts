/** Finding a literal text in bytes, line by line. @module */
import { Fault } from "../../contracts/fault.ts";
import { decode } from "./encoding.ts";

/** What is searched for. */
export interface Needle {
  readonly query: string;
  readonly ignoreCase: boolean;
}

/** One line with the needle in it. */
export interface Hit {
  /** From 1. */
  readonly line: number;
  /** The line, or the part of a long one around the needle. */
  readonly text: string;
}

const SHOWN = 240;

/** Makes a needle. Throws Fault `invalidArguments` for an empty text or one of several lines. */
export function makeNeedle(query: string, ignoreCase: boolean): Needle {
  if (query === "" || query.includes("\n")) {
    throw new Fault("invalidArguments", "Cannot search: the query must be one line of text");
  }
  return { query: ignoreCase ? query.toLowerCase() : query, ignoreCase };
}

const LOOSE = new TextDecoder();

/** The lines of a text that hold the needle, at most `most`. */
export function linesWith(
  needle: Needle,
  bytes: Uint8Array,
  most: number,
  firstLine = 1,
): Hit[] {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  let text: string;
  if (wide) {
    const decoded = decode(bytes);
    if (!("text" in decoded)) return [];
    text = decoded.text;
  } else {
    text = LOOSE.decode(bytes);
  }
  const fold = (given: string): string => needle.ignoreCase ? given.toLowerCase() : given;
  if (!fold(text).includes(needle.query)) return [];
  const hits: Hit[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const at = fold(line).indexOf(needle.query);
    if (at < 0) continue;
    if (hits.push({ line: firstLine + index, text: around(line, at) }) >= most) break;
  }
  return hits;
}

function around(line: string, at: number): string {
  const clean = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (clean.length <= SHOWN) return clean;
  const from = Math.max(0, Math.min(at - 60, clean.length - SHOWN));
  const part = clean.slice(from, from + SHOWN);
  return `${from > 0 ? "…" : ""}${part}${from + SHOWN < clean.length ? "…" : ""}`;
}
