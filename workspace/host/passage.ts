/**
 * Finds the passage that `file_edit` replaces: exactly, or with the file's own line ends where the
 * model gave others. A passage that is only similar is reported, never replaced. Used by stage.ts.
 * @module
 */

/** A passage that occurs once, and its replacement in the file's own line ends; or why not. */
export type Passage =
  | { readonly at: number; readonly length: number; readonly next: string }
  | { readonly why: string };

type End = "\r\n" | "\n";

/** Finds `old` in `text`. `\r\n` and `\n` in `old` stand for any line end. */
export function findPassage(text: string, old: string, next: string): Passage {
  const ends = endsOf(text);
  // The `\n` of a CRLF is not a line end of its own.
  const halves = old.startsWith("\n") && ends["\r\n"] > 0;
  const exact = halves ? [] : placesOf(text, old);
  if (exact.length > 1) return { why: twice(text, exact) };
  const [at] = exact;
  if (at !== undefined) {
    // A passage within one line; its replacement may have several lines.
    const end = old.includes("\n") ? undefined : endAt(text, at, ends);
    return { at, length: old.length, next: end === undefined ? next : withEnds(next, end) };
  }
  if (!/\n/.test(old) || ends["\r\n"] === 0 && !old.includes("\r\n")) {
    return { why: nearMatch(text, old) };
  }
  // Compare with every line end as `\n`, and remember where the file's own ends are longer.
  const { plain, lengthened } = unified(text);
  const wanted = old.replaceAll("\r\n", "\n");
  const places = placesOf(plain, wanted);
  const [first, second] = places;
  if (first === undefined) return { why: nearMatch(text, old) };
  const start = lengthened(first);
  if (second !== undefined) return { why: twice(text, places.map(lengthened)) };
  const length = lengthened(first + wanted.length) - start;
  return { at: start, length, next: withEnds(next, endAt(text, start, ends)) };
}

/** Line ends of a text, counted. */
export function endsOf(text: string): Readonly<Record<End, number>> {
  let crlf = 0, lf = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] === "\r") crlf++;
    else lf++;
  }
  return { "\r\n": crlf, "\n": lf };
}

/** A text with uniform line ends. */
function withEnds(text: string, end: End): string {
  const plain = text.replaceAll("\r\n", "\n");
  return end === "\n" ? plain : plain.replaceAll("\n", "\r\n");
}

/** The end of the line at `at`; in the last line, the most common end. */
function endAt(text: string, at: number, ends: Readonly<Record<End, number>>): End {
  const end = text.indexOf("\n", at);
  if (end >= 0) return text[end - 1] === "\r" ? "\r\n" : "\n";
  return ends["\r\n"] > ends["\n"] ? "\r\n" : "\n";
}

function unified(text: string): { plain: string; lengthened(at: number): number } {
  const before: number[] = [];
  const plain = text.replace(/\r\n/g, (_, at: number) => {
    before.push(at - before.length);
    return "\n";
  });
  return {
    plain,
    // Each shortened line end before a position shifts the position by one.
    lengthened(at): number {
      let low = 0, high = before.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((before[middle] ?? 0) < at) low = middle + 1;
        else high = middle;
      }
      return at + low;
    },
  };
}

/** At most two positions: more are not needed. */
function placesOf(text: string, wanted: string): readonly number[] {
  const first = text.indexOf(wanted);
  if (first < 0) return [];
  const second = text.indexOf(wanted, first + 1);
  return second < 0 ? [first] : [first, second];
}

function lineOf(text: string, at: number): number {
  return endsOf(text.slice(0, at))["\n"] + endsOf(text.slice(0, at))["\r\n"] + 1;
}

function twice(text: string, [first = 0, second = 0]: readonly number[]): string {
  return `"old" occurs more than once, at line ${lineOf(text, first)} and at line ${
    lineOf(text, second)
  }; give more of the text around it`;
}

/** Characters that look alike or are invisible, each with its plain keyboard character. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032\u00b4\u0060]/g, "'"],
  [/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/\u2026/g, "..."],
  [/[\p{Cf}\ufe00-\ufe0f]/gu, ""],
];

/** Differences between two texts, from smallest to largest; each step includes the steps before. */
const LOOSER: readonly { readonly in: string; loosen(line: string): string }[] = [
  { in: "spaces at the ends of lines", loosen: (line) => line.trimEnd() },
  { in: "tabs and spaces", loosen: (line) => line.replace(/[ \t]+/g, " ") },
  { in: "how far lines are indented", loosen: (line) => line.trimStart() },
  {
    in: "letters that look alike (quotes, dashes, spaces, invisible ones)",
    loosen: (line) =>
      ALIKE.reduce((all, [letters, plain]) => all.replace(letters, plain), line.normalize("NFKC"))
        .replace(/[ \t]+/g, " ").trim(),
  },
  { in: "upper and lower case", loosen: (line) => line.toLowerCase() },
];

/** Names the passage that nearly fits, and the difference. */
function nearMatch(text: string, old: string): string {
  const cannot = '"old" does not occur in it';
  const wanted = old.split(/\r?\n/), lines = text.split(/\r?\n/);
  let want = wanted, have = lines;
  for (const { in: differs, loosen } of LOOSER) {
    want = want.map(loosen);
    have = have.map(loosen);
    const at = lineWith(have, want);
    if (at === undefined) continue;
    return `${cannot}; line ${at + 1} differs from it only in ${differs}: ` +
      `${JSON.stringify(clip(lines[at] ?? ""))}. Give the text exactly as it stands there`;
  }
  const [first = ""] = want.filter((line) => line.trim() !== "");
  const at = first === "" ? -1 : have.findIndex((line) => line.includes(first));
  return at < 0
    ? `${cannot}; read it again and give the exact text`
    : `${cannot}; its first line stands at line ${
      at + 1
    }, and what follows there is other. Read it again ` +
      "and give the exact text";
}

function clip(line: string): string {
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

/** The index where the wanted lines follow; the first may begin and the last end within a line. */
function lineWith(have: readonly string[], want: readonly string[]): number | undefined {
  const [first = "", ...rest] = want;
  if (want.every((line) => line.trim() === "")) return undefined;
  const last = rest.length - 1;
  const at = have.findIndex((line, index) =>
    (rest.length === 0 ? line.includes(first) : line.endsWith(first)) &&
    rest.every((more, n) => {
      const own = have[index + 1 + n];
      return own !== undefined && (n === last ? own.startsWith(more) : own === more);
    })
  );
  return at < 0 ? undefined : at;
}
