/** Server-sent events, cut out of the pieces of their stream. @module */

/**
 * Makes what takes the pieces of one stream and gives the texts of whole events, with `\n` as the end of each line.
 * Throws what `tooLong` makes for one of more than `units` UTF-16 units.
 */
export function makeEventTexts(
  units: number,
  tooLong: () => Error,
): (text: string) => readonly string[] {
  let held: string[] = [], heldUnits = 0, half = "";
  return (text) => {
    const raw = half + text;
    // A carriage return at the end may be half of a line's end.
    half = raw.endsWith("\r") ? "\r" : "";
    const piece = raw.slice(0, raw.length - half.length).replaceAll(/\r\n?/g, "\n");
    if (piece === "") return [];
    const whole = `${held.at(-1)?.at(-1) ?? ""}${piece}`.includes("\n\n");
    held.push(piece);
    heldUnits += piece.length;
    if (!whole) {
      if (heldUnits > units) throw tooLong();
      return [];
    }
    const all = held.join("");
    const end = all.lastIndexOf("\n\n");
    held = [all.slice(end + 2)];
    heldUnits = all.length - end - 2;
    return all.slice(0, end).split("\n\n");
  };
}
