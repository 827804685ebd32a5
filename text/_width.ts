/** The width of a character on a terminal. @module */

/** First and last code points of the wide ranges (Unicode 16, East Asian Width W and F). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];

const PICTURE = /^\p{Emoji_Presentation}|\u{fe0f}/u;
const NO_WIDTH = /^[\p{M}\p{Cc}\p{Cf}]/u;

/** Columns of one emoji sequence or code point, with what combines with it: 0, 1 or 2. */
export function widthOfCluster(cluster: string): number {
  const code = cluster.codePointAt(0);
  if (code === undefined) return 0;
  // ASCII, the usual case, needs no pattern.
  if (cluster.length === 1 && code >= 0x20 && code < 0x7f) return 1;
  if (NO_WIDTH.test(cluster)) return 0;
  if (PICTURE.test(cluster)) return 2;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
