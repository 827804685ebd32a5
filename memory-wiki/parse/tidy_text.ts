/** Makes any text fit to be cited by its lines: well-formed, visible, of bounded size. @module */

/** Most bytes of UTF-8 that a document's text has. */
export const MOST_TEXT = 16_777_216;
/** Most UTF-16 units of a line: what has more is broken at its spaces. */
export const MOST_LINE = 10_000;
/** Units after which nothing is looked at: even of three-byte characters no more would be kept. */
const MOST_UNITS = 3 * MOST_TEXT;

/** A text that fits, and what was done to it. */
export interface TidyText {
  /** Lines ended by `\n`; empty, or ended by one. */
  readonly text: string;
  readonly notes: readonly string[];
}

// deno-lint-ignore no-control-regex -- they end lines in old texts
const LINE_ENDS = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/g;
// deno-lint-ignore no-control-regex -- these are what is taken out
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g;
/** Without a shape and without harm: byte order marks, soft hyphens, the marks of a direction. */
const HARMLESS = /[\u00ad\ufeff\u200e\u200f\u061c]/g;
/**
 * Without a shape: they reorder, hide or carry text that nobody sees. What joins letters stays where
 * it does: within words of scripts that are not Latin, and within emoji.
 */
const HIDDEN =
  /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}#*0-9])[\ufe0e\ufe0f]|(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d]|(?<=[\p{Script=Latin}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])/gu;

/** Tidies a text. Never fails; time and memory are linear in its length. */
export function tidyText(raw: string): TidyText {
  const notes: string[] = [];
  const whole = raw.length > MOST_UNITS ? raw.slice(0, MOST_UNITS) : raw;
  const plain = whole.toWellFormed().replace(LINE_ENDS, "\n").replace(HARMLESS, "");
  const printed = plain.replace(CONTROL, "");
  if (printed.length < plain.length) {
    notes.push(`${plain.length - printed.length} control characters were removed.`);
  }
  let hidden = 0;
  const drop = (): string => {
    hidden += 1;
    return "";
  };
  const seen = /[\u0300-\uffff]/.test(printed) ? printed.replace(HIDDEN, drop) : printed;
  if (hidden > 0) notes.push(`${hidden} invisible characters were removed.`);
  const wrapped = wrapLines(seen);
  if (wrapped.broken > 0) {
    notes.push(`${wrapped.broken} lines of over ${MOST_LINE} characters were wrapped.`);
  }
  const ended = wrapped.text === "" || wrapped.text.endsWith("\n")
    ? wrapped.text
    : wrapped.text + "\n";
  const text = cutBytes(ended);
  if (text.length < ended.length || whole.length < raw.length) {
    notes.push("The text was cut after 16 MiB.");
  }
  return { text, notes };
}

function wrapLines(text: string): { readonly text: string; readonly broken: number } {
  if (!hasLongLine(text)) return { text, broken: 0 };
  let broken = 0;
  const lines = text.split("\n").map((line) => {
    if (line.length <= MOST_LINE) return line;
    broken += 1;
    return wrapLine(line).join("\n");
  });
  return { text: lines.join("\n"), broken };
}

function hasLongLine(text: string): boolean {
  for (let from = 0; text.length - from > MOST_LINE;) {
    const end = text.lastIndexOf("\n", from + MOST_LINE);
    if (end < from) return true;
    from = end + 1;
  }
  return false;
}

function wrapLine(line: string): string[] {
  const parts: string[] = [];
  let from = 0;
  while (line.length - from > MOST_LINE) {
    // Of its own part alone: a line without spaces would be looked through from its begin each time.
    const space = line.slice(from, from + MOST_LINE + 1).lastIndexOf(" ");
    // A space that leaves a stub is no place to break at.
    const at = space > MOST_LINE / 2 ? from + space : notWithin(line, from + MOST_LINE);
    parts.push(line.slice(from, at));
    from = line[at] === " " ? at + 1 : at;
  }
  return [...parts, line.slice(from)];
}

/** Never between the halves of a character. */
function notWithin(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? at - 1 : at;
}

function cutBytes(text: string): string {
  if (text.length * 3 <= MOST_TEXT) return text;
  const room = new Uint8Array(MOST_TEXT);
  const { read } = new TextEncoder().encodeInto(text, room);
  if (read === text.length) return text;
  const line = text.lastIndexOf("\n", read - 1);
  return line < 0 ? text.slice(0, read) : text.slice(0, line + 1);
}
