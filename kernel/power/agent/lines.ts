/** Lines of a stream of bytes, in time linear in its length: no piece is looked at twice. @module */

/** What {@link makeLines} is handed. */
export interface LinesParts {
  /** Most characters of a line. */
  readonly max: number;
  /** Called with each line, without its newline. */
  line(text: string): void;
  /** Called once, where a line is longer; nothing is heard after it. */
  tooLong(): void;
}

/** Makes what hears the stream's chunks; a chunk is used during the call alone. */
export function makeLines({ max, line, tooLong }: LinesParts): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let pieces: string[] = [], length = 0, over = false;
  /** Whether it still fits. */
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
