/** Arranges a page's pieces of text as lines in reading order; geometry and colours of drawings. @module */

/** A piece of text as the library returns it; its position is in the last two of `transform`. */
export interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

/** A line of a page. */
export interface PageLine {
  readonly text: string;
  /** Font size in points. */
  readonly size: number;
  /** Whether the gap above is larger than between lines. */
  readonly apart: boolean;
}

interface Piece {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly end: number;
  readonly size: number;
}

interface Row {
  readonly pieces: Piece[];
  readonly y: number;
  readonly size: number;
}

/** Maximum share of rows that begin above the previous one; with more, the file's order is not the reading order. */
const MAX_JUMPS = 0.25;

/** Arranges lines. Time of sorting. */
export function linesOf(items: readonly TextItem[]): readonly PageLine[] {
  const pieces = items.flatMap(pieceOf);
  const asWritten = rowsOf(pieces);
  const rows = isShuffled(asWritten) ? rowsOf(byPlace(pieces)) : asWritten;
  const lines: PageLine[] = [];
  let before: Row | undefined;
  for (const row of rows) {
    const text = textOf(row);
    if (text === "") continue;
    const gap = before === undefined ? 0 : before.y - row.y;
    const apart = before !== undefined &&
      (gap < -before.size || gap > 1.75 * Math.max(before.size, row.size));
    lines.push({ text, size: row.size, apart });
    before = row;
  }
  return lines;
}

function pieceOf({ str, transform, width, height }: TextItem): Piece[] {
  const [a = 0, b = 0, , , x = 0, y = 0] = transform;
  if (str.trim() === "" || !Number.isFinite(x) || !Number.isFinite(y)) return [];
  const size = height > 0 ? height : Math.hypot(a, b);
  const wide = Number.isFinite(width) ? width : 0;
  return [{ text: str, x, y, end: x + wide, size: Number.isFinite(size) ? size : 0 }];
}

/** Consecutive pieces on one baseline form a row. */
function rowsOf(pieces: readonly Piece[]): readonly Row[] {
  const rows: Row[] = [];
  let row: Row | undefined;
  for (const piece of pieces) {
    const last = row?.pieces.at(-1);
    const same = row !== undefined && last !== undefined &&
      Math.abs(piece.y - row.y) <= 0.5 * Math.max(row.size, piece.size, 1) &&
      piece.x >= last.x - row.size;
    if (row !== undefined && same) row.pieces.push(piece);
    else {
      row = { pieces: [piece], y: piece.y, size: piece.size };
      rows.push(row);
    }
  }
  return rows;
}

/** A new column begins above the previous row once; pieces in random order do so constantly. */
function isShuffled(rows: readonly Row[]): boolean {
  let jumps = 0;
  for (let at = 1; at < rows.length; at += 1) {
    const [before, row] = [rows[at - 1], rows[at]];
    if (before !== undefined && row !== undefined && row.y > before.y + before.size) jumps += 1;
  }
  return jumps > 4 && jumps > rows.length * MAX_JUMPS;
}

function byPlace(pieces: readonly Piece[]): readonly Piece[] {
  const snap = (piece: Piece): number => Math.round(piece.y / 2);
  return pieces.toSorted((one, other) => snap(other) - snap(one) || one.x - other.x);
}

function textOf({ pieces }: Row): string {
  let text = "";
  let end: number | undefined;
  for (const piece of pieces) {
    const gap = end === undefined ? 0 : piece.x - end;
    const spaced = /\s$/.test(text) || /^\s/.test(piece.text);
    if (end !== undefined && !spaced && gap > 0.15 * piece.size) text += " ";
    text += piece.text;
    end = piece.end;
  }
  return text.replace(/\s+/g, " ").trim();
}

// Geometry and colours of a page's drawing, parsed from the library's untyped values.

/** In PDF's order: `a b c d e f`. */
export type Matrix = readonly [number, number, number, number, number, number];
/** An axis-aligned rectangle. */
export type Box = readonly [left: number, bottom: number, right: number, top: number];
/** Red, green, blue: 0 to 255. */
export type Colour = readonly [number, number, number];

/** The identity matrix. */
export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];
/** Colours whose components differ by no more look alike. */
const MAX_DIFFERENCE = 16;

/** Parses `#rrggbb`; undefined for other values. */
export function colourOf(said: unknown): Colour | undefined {
  const hex = typeof said === "string" ? /^#([0-9a-f]{6})$/i.exec(said)?.[1] : undefined;
  if (hex === undefined) return undefined;
  const value = Number.parseInt(hex, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Whether two colours look alike. */
export function isAlike(one: Colour, other: Colour | undefined): boolean {
  return other !== undefined &&
    one.every((part, at) => Math.abs(part - (other[at] ?? NaN)) <= MAX_DIFFERENCE);
}

/** An array of any kind; empty for other values. */
export function listOf(thing: unknown): readonly unknown[] {
  if (Array.isArray(thing)) return thing;
  return thing instanceof Float32Array || thing instanceof Float64Array ? [...thing] : [];
}

/** A finite number; 0 for other values. */
export function numberOf(thing: unknown): number {
  return typeof thing === "number" && Number.isFinite(thing) ? thing : 0;
}

/** A matrix; the identity for other values. */
export function matrixOf(list: readonly unknown[]): Matrix {
  if (list.length < 6) return IDENTITY;
  const [a, b, c, d, e, f] = list.map(numberOf);
  return [a ?? 1, b ?? 0, c ?? 0, d ?? 1, e ?? 0, f ?? 0];
}

/** A box; undefined for other values. */
export function boxOf(list: readonly unknown[]): Box | undefined {
  if (list.length < 4) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = list.map(numberOf);
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
}

/** The product: applies `inner`, then `outer`. */
export function multiplied(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  return [
    a * inner[0] + c * inner[1],
    b * inner[0] + d * inner[1],
    a * inner[2] + c * inner[3],
    b * inner[2] + d * inner[3],
    a * inner[4] + c * inner[5] + e,
    b * inner[4] + d * inner[5] + f,
  ];
}

/** Translates a matrix. */
export const times = (matrix: Matrix, x: number, y: number): Matrix =>
  multiplied(matrix, [1, 0, 0, 1, x, y]);

/** The bounding box of a transformed box. */
export function moved(box: Box, matrix: Matrix): Box {
  const [a, b, c, d, e, f] = matrix;
  const corners = [[box[0], box[1]], [box[2], box[1]], [box[0], box[3]], [box[2], box[3]]];
  const xs = corners.map(([x = 0, y = 0]) => a * x + c * y + e);
  const ys = corners.map(([x = 0, y = 0]) => b * x + d * y + f);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** The intersection of two boxes. */
export function cut(one: Box, other: Box): Box {
  return [
    Math.max(one[0], other[0]),
    Math.max(one[1], other[1]),
    Math.min(one[2], other[2]),
    Math.min(one[3], other[3]),
  ];
}

/** Fields of an untyped object. */
export function fieldsOf(thing: object): Readonly<Record<string, unknown>> {
  return thing as Readonly<Record<string, unknown>>;
}

/** The library's kind of images with transparency. */
const WITH_ALPHA = 3;

/** Whether an image is opaque. */
export function isOpaque(image: unknown): boolean {
  if (typeof image !== "object" || image === null) return false;
  const { kind, data } = fieldsOf(image);
  return data !== undefined && typeof kind === "number" && kind !== WITH_ALPHA;
}

/** Whether a path is a rectangle; another shape does not cover its whole bounding box. */
export function isRectangle(path: unknown): boolean {
  const data = listOf(listOf(path)[0]);
  const curved = data.length > 16 || data.length < 12;
  if (curved) return false;
  const xs = new Set<number>();
  const ys = new Set<number>();
  for (let at = 0; at + 2 < data.length; at += 3) {
    if (numberOf(data[at]) > 1) return false;
    xs.add(Math.round(numberOf(data[at + 1]) * 100));
    ys.add(Math.round(numberOf(data[at + 2]) * 100));
  }
  return xs.size === 2 && ys.size === 2;
}

/** Expands ligatures; other characters remain. */
export function withoutLigatures(text: string): string {
  return text.replace(/[\ufb00-\ufb06]/g, (one) => one.normalize("NFKC"));
}

/** Length of a text without surrounding white space. */
export function lettersOf(text: string): number {
  return text.trim().length;
}
