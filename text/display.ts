/** Untrusted text made safe to show. @module */
import { CONTINUED, cutMark } from "./_mark.ts";
import { NEWLINE, piecesOf, type Shown } from "./_piece.ts";

/** Bounds of {@link displayText}. */
export interface TextOptions {
  /** Most columns, without the note on a cut. Default 2,000. */
  readonly max?: number;
}

/** Prefix and bounds of {@link displayBlock}. */
export interface BlockOptions {
  /** Stands before every line, so that untrusted text never begins one. Default `│ `. */
  readonly prefix?: string;
  /** Most lines, without the note on a cut. Default 400. */
  readonly maxLines?: number;
  /** Most columns over all lines, without the note on a cut. Default 100,000. */
  readonly max?: number;
  /** Columns of a line without its prefix; a longer one continues after `↪`. Default 96, least 12. */
  readonly columns?: number;
}

const MAX_TEXT_COLUMNS = 2_000;
const MAX_BLOCK_COLUMNS = 100_000;
const MAX_LINES = 400;
const LINE_COLUMNS = 96;
/** Room for the longest escape and the sign of a continued line. */
const MIN_LINE_COLUMNS = 12;
const TAB_COLUMNS = 4;
/** Most characters of text per column: a base character and its combining marks. */
const DENSITY = 16;

/**
 * One line that shows `untrusted`: characters that move a cursor, hide, reorder or have no ink are written `\u{hex}`,
 * words that mix look-alike letters get a note, and a cut is noted with length and hash.
 * @example
 * ```ts
 * import { displayText } from "./mod.ts";
 * displayText("a\u{202e}b"); // a\u{202e}b, spelled out
 * ```
 */
export function displayText(untrusted: string, options: TextOptions = {}): string {
  const max = options.max ?? MAX_TEXT_COLUMNS;
  let line = "";
  let columns = 0;
  for (const piece of piecesOf(untrusted.slice(0, (max + 1) * DENSITY))) {
    const { text, columns: more } = place(piece.kind === "newline" ? NEWLINE : piece, columns);
    if (columns + more > max) return line + cutMark(untrusted);
    line += text;
    columns += more;
  }
  return untrusted.length > (max + 1) * DENSITY ? line + cutMark(untrusted) : line;
}

/**
 * Lines that show `untrusted` as {@link displayText} does, broken at `\n` and `\r\n` and where a line gets too long.
 * Each line has the prefix, so that none passes for a line of Remit's own.
 */
export function displayBlock(untrusted: string, options: BlockOptions = {}): string[] {
  const { prefix = "│ ", maxLines = MAX_LINES, max = MAX_BLOCK_COLUMNS } = options;
  const width = Math.max(options.columns ?? LINE_COLUMNS, MIN_LINE_COLUMNS);
  const lines: string[] = [];
  let line = "";
  let columns = 0;
  let total = 0;
  const broken = (): string[] => [...lines, prefix + line, prefix + cutMark(untrusted)];

  // CRLF ends a line as LF does; a lone CR moves the cursor and is spelled out.
  const given = untrusted.slice(0, (max + 1) * DENSITY).replaceAll("\r\n", "\n");
  for (const piece of piecesOf(given)) {
    if (lines.length >= maxLines) return [...lines, prefix + cutMark(untrusted)];
    if (piece.kind === "newline") {
      lines.push(prefix + line);
      line = "";
      columns = 0;
      continue;
    }
    const { text, columns: more } = place(piece, columns);
    total += more;
    if (total > max) return broken();
    if (columns + more > width) {
      lines.push(prefix + line);
      line = CONTINUED + " ";
      columns = 2;
      if (piece.kind === "tab") continue;
    }
    line += text;
    columns += more;
  }
  if (untrusted.length > (max + 1) * DENSITY) return broken();
  if (line !== "") lines.push(prefix + line);
  return lines;
}

function place(
  piece: Shown | { readonly kind: "tab" },
  column: number,
): { readonly text: string; readonly columns: number } {
  if (piece.kind === "shown") return piece;
  const columns = TAB_COLUMNS - column % TAB_COLUMNS;
  return { text: " ".repeat(columns), columns };
}
