/** Untrusted text, cut into pieces that are safe to show. @module */
import { clustersOf, isEmoji } from "./_cluster.ts";
import { findLookAlikes } from "./_look_alike.ts";
import { CONTINUED, MARK_CLOSE, MARK_OPEN } from "./_mark.ts";
import { widthOfCluster } from "./_width.ts";

/** What a line is made of. */
export interface Shown {
  readonly kind: "shown";
  readonly text: string;
  readonly columns: number;
}

/** One unit that stands or falls together when a line is cut. */
export type Piece =
  | Shown
  | { readonly kind: "tab" }
  | { readonly kind: "newline" };

/** Marks that may follow one base character; more would climb over the lines above. */
const MAX_COMBINING = 4;

/** Controls, format characters, surrogates, private use, unassigned; separators but the space; what has no ink. */
const UNSAFE = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{1d159}]--\u{20}]/v;
/** Tag characters hide text; three flags of regions are written with them. */
const TAG = /[\u{e0000}-\u{e007f}]/u;
const COMBINING = /^\p{M}$/u;
const OURS: ReadonlySet<string> = new Set([MARK_OPEN, MARK_CLOSE, CONTINUED]);

/** Yields `untrusted` piece by piece: nothing that it yields moves a cursor, hides or reorders. */
export function* piecesOf(untrusted: string): Generator<Piece> {
  const marks = findLookAlikes(untrusted);
  let combining = MAX_COMBINING; // at the start there is nothing to combine with
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

/** A newline where only one line is wanted. */
export const NEWLINE: Shown = escaped("\n");

function isSafe(cluster: string): boolean {
  if (OURS.has(cluster) || TAG.test(cluster)) return false;
  // An emoji's joiners and selectors are among the unsafe, and right where they stand.
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
