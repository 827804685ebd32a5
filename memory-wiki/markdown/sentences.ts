/** Prose cut into sentences, by rules, in linear time. @module */

/** A sentence's place in its text, without white space around it. */
export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(
  ("e.g i.e eg ie etc vs cf al approx ca nr figs sect ch vol p pp eds est dept univ inc ltd co corp gov mr mrs ms dr " +
    "prof st sr jr lt sgt hon resp incl excl jan feb apr aug sept oct nov z.b d.h u.a usw bzw vgl ggf evtl inkl zzgl " +
    "p.ex a.m p.m u.s u.k e.u ph.d b.a m.a").split(" "),
);
/** Words of their own, too: abbreviations only before a number. */
const BEFORE_NUMBERS: ReadonlySet<string> = new Set(
  "no nos fig sec chap ed art abs mar jun jul sep dec mon tue wed thu fri sat sun max min rev"
    .split(" "),
);
/** What ends a sentence and needs no white space after it. */
const FULL = "。！？｡";
const HALF = ".!?…؟۔।॥።";
const CLOSERS = "\"'”’»›)]}」』】）〉》*_`";
const STOPS = new RegExp(`[${FULL}${HALF}]`, "gu");
const AFTER = CLOSERS + FULL + HALF;
const FULL_STOP = new RegExp(`[${FULL}]`, "u");
const LOWER = /^\p{Ll}/u;
const DIGITS_ONLY = /(?:^|\s|\()\d{1,3}$/;
const INITIAL = /(?:^|[\s(.])\p{Lu}$/u;
const LAST_WORD = /[\p{L}\p{N}.]{1,12}$/u;

/** Sentences of `text` in their order; together they hold all of it but the white space between them. */
export function sentencesOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  let start = 0;
  const take = (end: number): void => {
    const span = trimmed(text, start, end);
    if (span !== undefined) spans.push(span);
    start = end;
  };

  STOPS.lastIndex = 0;
  for (let found = STOPS.exec(text); found !== null; found = STOPS.exec(text)) {
    const at = found.index;
    const end = afterClosers(text, at + 1);
    // INVARIANT: a run of stops is looked at once (test: "… time proportional to its length …").
    STOPS.lastIndex = end;
    if (ends(text, at, end, start)) take(end);
  }
  take(text.length);
  return spans;
}

function ends(text: string, at: number, end: number, start: number): boolean {
  const stop = text.charAt(at);
  if (FULL_STOP.test(text.slice(at, end))) return true;
  if (end < text.length && !/\s/.test(text.charAt(end))) return false;
  const next = text.slice(end, end + 8).trimStart();
  if (stop !== ".") return !LOWER.test(next) || next === "";
  if (next === "") return true;
  if (LOWER.test(next)) return false;
  const before = text.slice(Math.max(start, at - 14), at);
  const word = LAST_WORD.exec(before)?.[0].toLowerCase() ?? "";
  if (ABBREVIATIONS.has(word) || ABBREVIATIONS.has(word.replace(/^.*\./, "."))) return false;
  if (BEFORE_NUMBERS.has(word) && /^\p{N}/u.test(next)) return false;
  // "1. First" begins a list in prose; "in 1984. It" ends a sentence.
  if (DIGITS_ONLY.test(before) && at - start <= 4) return false;
  return !INITIAL.test(before);
}

function afterClosers(text: string, from: number): number {
  let end = from;
  while (end < text.length && AFTER.includes(text.charAt(end))) end += 1;
  return end;
}

function trimmed(text: string, from: number, to: number): Span | undefined {
  let [start, end] = [from, to];
  while (start < end && /\s/.test(text.charAt(start))) start += 1;
  while (end > start && /\s/.test(text.charAt(end - 1))) end -= 1;
  return end > start ? { start, end } : undefined;
}
