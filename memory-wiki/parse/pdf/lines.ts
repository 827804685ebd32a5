/** Pieces of text on a page as lines in reading order. @module */

/** A piece of text as the library gives it: where it stands is in the last two of `transform`. */
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
  /** Of its letters, in points. */
  readonly size: number;
  /** Whether there is more room above it than lines have. */
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

/** Rows that begin above the one before, beyond which the order of the file is no reading order. */
const MOST_JUMPS = 0.25;

/** Makes lines. Time is that of sorting. */
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

/** Pieces whose feet are at one height, one behind the other, are a row. */
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

/** A column begins above the one before, once; a file whose pieces lie about begins so all the time. */
function isShuffled(rows: readonly Row[]): boolean {
  let jumps = 0;
  for (let at = 1; at < rows.length; at += 1) {
    const [before, row] = [rows[at - 1], rows[at]];
    if (before !== undefined && row !== undefined && row.y > before.y + before.size) jumps += 1;
  }
  return jumps > 4 && jumps > rows.length * MOST_JUMPS;
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
