/** Offsets of a text told as lines, in one pass. @module */

/**
 * Gives the line of an offset in `text`, whose first line is `first`. Offsets must be asked for in ascending order:
 * together all questions take time in proportion to the text's length.
 */
export function makeLineCounter(text: string, first: number): (offset: number) => number {
  let line = first;
  let feed = text.indexOf("\n");
  return (offset): number => {
    while (feed >= 0 && feed < offset) {
      line += 1;
      feed = text.indexOf("\n", feed + 1);
    }
    return line;
  };
}
