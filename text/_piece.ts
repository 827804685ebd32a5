/** Splits untrusted text into pieces that are safe to show. Used by display.ts. @module */
import { findLookAlikes } from "./_look_alike.ts";
import { CONTINUED, MARK_CLOSE, MARK_OPEN } from "./_mark.ts";

/** Text that is safe to print, with its width. */
export interface Shown {
  readonly kind: "shown";
  readonly text: string;
  readonly columns: number;
}

/** One unit that a cut keeps or drops whole. */
export type Piece =
  | Shown
  | { readonly kind: "tab" }
  | { readonly kind: "newline" };

/** Combining marks after one base character; more would overlap the lines above. */
const MAX_COMBINING = 4;

/** Controls, format characters, surrogates, private use, unassigned, separators except the space, characters without ink. */
const UNSAFE = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{1d159}]--\u{20}]/v;
/** Tag characters hide text; only three regional flags use them. */
const TAG = /[\u{e0000}-\u{e007f}]/u;
const COMBINING = /^\p{M}$/u;
const OURS: ReadonlySet<string> = new Set([MARK_OPEN, MARK_CLOSE, CONTINUED]);

/** Yields `untrusted` in pieces, none of which moves a cursor, hides or reorders. */
export function* piecesOf(untrusted: string): Generator<Piece> {
  const marks = findLookAlikes(untrusted);
  let combining = MAX_COMBINING; // a leading mark has no base character
  let end = 0;
  for (const cluster of clustersOf(untrusted)) {
    end += cluster.length;
    if (cluster === "\n" || cluster === "\t") {
      combining = MAX_COMBINING;
      yield { kind: cluster === "\n" ? "newline" : "tab" };
    } else if (COMBINING.test(cluster) && !UNSAFE.test(cluster)) {
      yield combining++ < MAX_COMBINING ? shown(cluster) : escaped(cluster);
    } else if (isSafe(cluster)) {
      combining = cluster === " " ? MAX_COMBINING : 0;
      yield shown(cluster);
    } else {
      combining = MAX_COMBINING;
      for (const point of cluster) yield isSafe(point) ? shown(point) : escaped(point);
    }
    const mark = marks.get(end);
    if (mark !== undefined) {
      combining = MAX_COMBINING;
      yield shown(mark);
    }
  }
}

/** A newline, for text that must stay on one line. */
export const NEWLINE: Shown = escaped("\n");

function isSafe(cluster: string): boolean {
  if (OURS.has(cluster) || TAG.test(cluster)) return false;
  // Joiners and selectors are unsafe, except within an emoji.
  return !UNSAFE.test(cluster) || isEmoji(cluster);
}

function shown(text: string): Shown {
  let columns = 0;
  for (const cluster of clustersOf(text)) columns += widthOfCluster(cluster);
  return { kind: "shown", text, columns };
}

function escaped(point: string): Shown {
  const text = `\\u{${(point.codePointAt(0) ?? 0).toString(16)}}`;
  return { kind: "shown", text, columns: text.length };
}

/**
 * A text of these characters alone holds no emoji, no mark and no surrogate pair: each UTF-16 unit is a grapheme. (Test:
 * "alice's plain texts are cut as all others are".)
 */
const SIMPLE = /^[\0-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u259f\u27e8\u27e9]*$/;

// Compiled on first use: the table of emoji takes more memory than a process's other texts together.
let emoji: RegExp | undefined;

/** Splits into emoji (as the Unicode Consortium recommends them) and single code points or lone surrogates. */
export function clustersOf(text: string): Iterable<string> {
  if (SIMPLE.test(text)) return text;
  emoji ??= /\p{RGI_Emoji}|[\s\S]/gv;
  return text.match(emoji) ?? [];
}

/** Whether the cluster is exactly one emoji. */
export function isEmoji(cluster: string): boolean {
  if (SIMPLE.test(cluster)) return false;
  return /^\p{RGI_Emoji}$/v.test(cluster);
}

/** Begins with a wide character (Unicode 16, East Asian Width W and F). */
const WIDE =
  /^[\u1100-\u115f\u2329-\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
const PICTURE = /^\p{Emoji_Presentation}|\u{fe0f}/u;
const NO_WIDTH = /^[\p{M}\p{Cc}\p{Cf}]/u;

/** Columns of one emoji sequence or code point, with what combines with it: 0, 1 or 2. */
export function widthOfCluster(cluster: string): number {
  // ASCII, the usual case, needs no pattern.
  if (cluster.length === 1 && cluster >= " " && cluster < "\x7f") return 1;
  if (cluster === "" || NO_WIDTH.test(cluster)) return 0;
  return PICTURE.test(cluster) || WIDE.test(cluster) ? 2 : 1;
}
