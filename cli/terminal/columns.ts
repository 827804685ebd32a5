/** Counts and limits terminal columns, with widths estimated high so that no line wraps unexpectedly. @module */

/** Most columns that `text` can take: characters of unknown width count as two. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += width(character.codePointAt(0) ?? 0);
  return columns;
}

function width(point: number): number {
  if (point < 0x300) return 1;
  // Greek and Cyrillic, general punctuation, arrows, box drawing, blocks: one column everywhere.
  if (point >= 0x370 && point < 0x530) return 1;
  if (point >= 0x2010 && point <= 0x2027) return 1;
  if (point >= 0x2190 && point < 0x2600) return 1;
  return 2;
}

/** Splits safe text into pieces of at most `columns` columns; one piece for empty text. */
export function hardWrap(text: string, columns: number): string[] {
  const max = Math.max(8, columns);
  const pieces: string[] = [];
  let piece = "";
  let used = 0;
  for (const character of text) {
    const needs = columnsOf(character);
    if (used + needs > max) {
      pieces.push(piece);
      piece = "";
      used = 0;
    }
    piece += character;
    used += needs;
  }
  pieces.push(piece);
  return pieces;
}

/** Breaks safe text between words where possible; the joined pieces are exactly the text, with its spaces. */
export function exactWrap(text: string, columns: number): string[] {
  const max = Math.max(8, columns);
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const word of text.split(/(?<= )(?! )/)) {
    const needs = columnsOf(word);
    if (used + columnsOf(word.trimEnd()) <= max) {
      // Spaces that no longer fit move to the next row, where they are visible.
      const pieces = used + needs <= max ? [word] : hardWrap(line + word, max);
      if (pieces.length > 1) lines.push(...pieces.slice(0, -1));
      line = pieces.length > 1 ? pieces.at(-1) ?? "" : line + word;
      used = columnsOf(line);
      continue;
    }
    if (line !== "") lines.push(line);
    const pieces = hardWrap(word, max);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? "";
    used = columnsOf(line);
  }
  lines.push(line);
  return lines;
}

/** Cuts safe text to `columns` columns, with `…` in place of the rest. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = "";
  let used = 1;
  for (const character of text) {
    const needs = columnsOf(character);
    if (used + needs > columns) break;
    kept += character;
    used += needs;
  }
  return `${kept}…`;
}

/** Cuts safe text at its front: of a path, the end matters. */
export function cutFront(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = "";
  let used = 1;
  for (const character of [...text].toReversed()) {
    const needs = columnsOf(character);
    if (used + needs > columns) break;
    kept = character + kept;
    used += needs;
  }
  return `…${kept}`;
}

/** Pads safe text with spaces to at least `columns` columns. */
export function padTo(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - columnsOf(text)));
}

/** Breaks safe text between words where possible, and within words where necessary. */
export function wordWrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<= )/)) {
    if (line !== "" && columnsOf(line) + columnsOf(word.trimEnd()) > columns) {
      lines.push(line.trimEnd());
      line = "";
    }
    const pieces = hardWrap(word, columns);
    lines.push(...pieces.slice(0, -1));
    line += pieces.at(-1) ?? "";
  }
  lines.push(line);
  return lines;
}

/** Lays out safe words in columns, top to bottom, as `ls` does. Rows of at most `columns` columns. */
export function inColumns(words: readonly string[], columns: number): string[] {
  const widest = Math.max(1, ...words.map(columnsOf)) + 2;
  const beside = Math.max(1, Math.floor((columns + 2) / widest));
  const high = Math.ceil(words.length / beside);
  return Array.from({ length: high }, (_, row) =>
    words.filter((_, n) => n % high === row)
      .map((word) => padTo(word, widest)).join("").trimEnd());
}
