/** Cleans a page's text for one line of a snapshot; both browser engines use it. @module */

/** Characters without ink or that reorder text: controls, format characters, tags, selectors that can carry bytes. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\u{e0100}-\u{e01ef}\u115f\u1160\u3164\uffa0]/gu;
/** Joiners that scripts and emoji need, one at a time. */
const JOINERS = /^[\u200c\u200d]$/;
const SPACES = /[\s\u00a0\u0085]+/g;

/** Counts the characters that {@link cleanText} removed. */
export interface Unseen {
  characters: number;
}

/** One line without invisible characters, with collapsed spaces as in a browser; `unseen` counts what was removed. */
export function cleanText(text: string, unseen?: Unseen): string {
  return seen(text.replace(SPACES, " "), unseen);
}

/** As {@link cleanText}, but keeps spaces: for preformatted lines. */
export function cleanLine(line: string, unseen?: Unseen): string {
  return seen(line.replace(/\t/g, "    ").replace(/[\r\n\u2028\u2029\u0085]/g, " "), unseen);
}

/** The text in quotes, on one line, cut after `max` characters. */
export function quoted(text: string, max = 200): string {
  const clean = cleanText(text).trim();
  return JSON.stringify(clean.length > max ? `${clean.slice(0, max).toWellFormed()}…` : clean);
}

function seen(text: string, unseen: Unseen | undefined): string {
  // Classes of Unicode are slow in QuickJS, and most text needs none.
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.toWellFormed().replace(UNSEEN, (character: string, at: number, whole: string) => {
    if (JOINERS.test(character) && !JOINERS.test(whole.charAt(at - 1))) return character;
    if (unseen !== undefined) unseen.characters += 1;
    return "";
  });
}
