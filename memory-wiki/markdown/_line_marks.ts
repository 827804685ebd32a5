/** What stands before a line of Markdown: marks of quotes, and indentation. @module */

/** Takes the marks of a quote off, at most `most` of them. */
export function unquoted(
  line: string,
  most: number,
): { readonly text: string; readonly quote: number } {
  let [at, quote] = [0, 0];
  while (quote < most) {
    let mark = at;
    while (mark - at < 3 && line[mark] === " ") mark += 1;
    if (line[mark] !== ">") break;
    at = mark + 1;
    if (line[at] === " " || line[at] === "\t") at += 1;
    quote += 1;
  }
  return { text: at === 0 ? line : line.slice(at), quote };
}

/** Columns of white space before a line, and the line without it. */
export function dedented(line: string): { readonly indent: number; readonly text: string } {
  let [at, indent] = [0, 0];
  for (;; at += 1) {
    if (line[at] === " ") indent += 1;
    else if (line[at] === "\t") indent += 4 - indent % 4;
    else return { indent, text: at === 0 ? line : line.slice(at) };
  }
}

/** Whether a text is one character again and again. */
export function allSame(text: string): boolean {
  const first = text[0];
  for (let at = 1; at < text.length; at += 1) if (text[at] !== first) return false;
  return true;
}
