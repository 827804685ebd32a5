/** Texts as lines that keep their ends. @module */

/** One line: its text without the end, and the end: `\n`, `\r\n`, or empty for a last line without one. */
export interface Line {
  readonly text: string;
  readonly end: "" | "\n" | "\r\n";
}

/** Splits at `\n`. Joining all texts and ends gives the input again. */
export function splitLines(text: string): readonly Line[] {
  const lines: Line[] = [];
  let from = 0;
  while (from < text.length) {
    const at = text.indexOf("\n", from);
    if (at < 0) {
      lines.push({ text: text.slice(from), end: "" });
      break;
    }
    const crlf = at > from && text[at - 1] === "\r";
    lines.push({ text: text.slice(from, crlf ? at - 1 : at), end: crlf ? "\r\n" : "\n" });
    from = at + 1;
  }
  return lines;
}

/** The end that most lines of a text have; `\n` for a text without any. */
export function commonEnd(lines: readonly Line[]): "\n" | "\r\n" {
  let crlf = 0;
  let lf = 0;
  for (const { end } of lines) {
    if (end === "\r\n") crlf += 1;
    else if (end === "\n") lf += 1;
  }
  return crlf > lf ? "\r\n" : "\n";
}

/** Joins lines. A line without an end that is no longer the last one gets `end`. */
export function joinLines(lines: readonly Line[], end: "\n" | "\r\n"): string {
  const last = lines.length - 1;
  return lines.map((line, at) => line.text + (line.end === "" && at < last ? end : line.end))
    .join("");
}
