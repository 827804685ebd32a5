/** Splits a stream of bytes into lines, in linear time: no piece is searched twice. @module */

/** The limit and the listeners of {@link makeLines}. */
export interface LinesParts {
  /** Characters of a line, at most. */
  readonly max: number;
  /** Called with each line, without its newline. */
  line(text: string): void;
  /** Called once, at the first longer line; later input is ignored. */
  tooLong(): void;
}

/** Makes the function that takes the stream's chunks; a chunk is only used during the call. */
export function makeLines({ max, line, tooLong }: LinesParts): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let pieces: string[] = [], length = 0, over = false;
  /** Adds a piece; false where the line is too long. */
  const take = (piece: string): boolean => {
    length += piece.length;
    if (length <= max) {
      pieces.push(piece);
      return true;
    }
    over = true;
    pieces = [];
    tooLong();
    return false;
  };
  return (chunk) => {
    if (over) return;
    const text = decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      if (!take(text.slice(from, end))) return;
      from = end + 1;
      const whole = pieces.join("");
      pieces = [];
      length = 0;
      line(whole);
    }
    take(text.slice(from));
  };
}
