/** Splits untrusted text into pieces that are safe to show. @module */
import { clustersOf, isEmoji } from "./_cluster.ts";
import { findLookAlikes } from "./_look_alike.ts";
import { CONTINUED, MARK_CLOSE, MARK_OPEN } from "./_mark.ts";
import { widthOfCluster } from "./_width.ts";

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
