/** Parses dates in claims: `2026-01-05`, `5 January 2026`, `January 2026`, `in 2026`, `10:30`. @module */
import { unitOf } from "./quantities.ts";
import type { Token } from "./tokens.ts";

/** Relation of a date to the statement. */
export type Role = "at" | "since" | "until" | "before" | "after" | "by";

/** A date in a claim. */
export interface Dated {
  readonly role: Role;
  /** `2026-01-05`, `2026-01`, `2026`, `--01-05`, `--01`, `10:30`: as precise as written. */
  readonly value: string;
}

/** Prepositions by role. */
export const ROLES: Readonly<Record<string, Role>> = Object.freeze({
  since: "since",
  from: "since",
  until: "until",
  till: "until",
  before: "before",
  after: "after",
  by: "by",
  in: "at",
  on: "at",
  at: "at",
});

const MONTHS =
  "january february march april may june july august september october november december".split(
    " ",
  );
const BEFORE_YEAR = new Set(
  "in since by until till from before after during year early late mid around circa of".split(" "),
);

/** The month that `word` names, as two digits. */
export function monthOf(word: string): string | undefined {
  const at = MONTHS.findIndex((month) =>
    word === month || (word.length >= 3 && word.length <= 4 && month.startsWith(word))
  );
  return at === -1 ? undefined : String(at + 1).padStart(2, "0");
}

function numberAt(tokens: readonly Token[], at: number): number | undefined {
  const token = tokens[at];
  return token?.kind === "number" && token.digits === 0 && /^(?:|st|nd|rd|th)$/.test(token.suffix)
    ? token.value
    : undefined;
}

function isYear(value: number | undefined): value is number {
  return value !== undefined && value >= 1000 && value <= 2199;
}

function monthAt(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at];
  // "may" is a verb unless capitalized.
  return token?.kind === "word" && token.capital ? monthOf(token.text) : undefined;
}

/** The date that begins at token `at`, and its length in tokens. */
export function readMonthDate(
  tokens: readonly Token[],
  at: number,
): { readonly value: string; readonly length: number } | undefined {
  const token = tokens[at];
  if (token?.kind === "date") return { value: token.text, length: 1 };
  const two = (day: number): string => String(day).padStart(2, "0");
  const first = numberAt(tokens, at);
  if (first !== undefined) {
    const of = wordIs(tokens, at + 1, "of") ? 1 : 0;
    const month = monthAt(tokens, at + 1 + of);
    if (month !== undefined && first >= 1 && first <= 31) {
      const year = yearAfter(tokens, at + 2 + of);
      return year === undefined
        ? { value: `--${month}-${two(first)}`, length: 2 + of }
        : { value: `${year.value}-${month}-${two(first)}`, length: 2 + of + year.length };
    }
    return bareYear(tokens, at, first);
  }
  const month = monthAt(tokens, at);
  if (month === undefined) return undefined;
  const day = numberAt(tokens, at + 1);
  if (isYear(day)) return { value: `${day}-${month}`, length: 2 };
  if (day === undefined || day < 1 || day > 31) return undefined;
  const year = yearAfter(tokens, at + 2);
  return year === undefined
    ? { value: `--${month}-${two(day)}`, length: 2 }
    : { value: `${year.value}-${month}-${two(day)}`, length: 2 + year.length };
}

function wordIs(tokens: readonly Token[], at: number, text: string): boolean {
  const token = tokens[at];
  return token?.kind === "word" && token.text === text;
}

function yearAfter(
  tokens: readonly Token[],
  at: number,
): { readonly value: number; readonly length: number } | undefined {
  const comma = tokens[at];
  const skip = comma?.kind === "mark" && comma.text === "," ? 1 : 0;
  const year = numberAt(tokens, at + skip);
  return isYear(year) ? { value: year, length: 1 + skip } : undefined;
}

function bareYear(
  tokens: readonly Token[],
  at: number,
  value: number,
): { readonly value: string; readonly length: number } | undefined {
  const before = tokens[at - 1];
  const token = tokens[at];
  const after = tokens[at + 1];
  if (!isYear(value) || token?.kind !== "number" || !/^\d{4}$/.test(token.text)) return undefined;
  if (after?.kind === "word" && unitOf(after.text) !== undefined) return undefined;
  const said = before?.kind === "word" && BEFORE_YEAR.has(before.text) ||
    before?.kind === "mark" && before.text === "(";
  return said ? { value: String(value), length: 1 } : undefined;
}

/** Whether two dates contradict each other: they differ in a part that both state. */
export function datesClash(a: Dated, b: Dated): boolean {
  if (a.role !== b.role || a.value === b.value) return false;
  const clock = /:/;
  if (clock.test(a.value) !== clock.test(b.value)) return false;
  if (clock.test(a.value)) return !a.value.startsWith(b.value) && !b.value.startsWith(a.value);
  const parts = (value: string): readonly string[] =>
    value.startsWith("--") ? ["", ...value.slice(2).split("-")] : value.split("-");
  const [one, other] = [parts(a.value), parts(b.value)];
  return one.some((part, index) => {
    const against = other[index] ?? "";
    return part !== "" && against !== "" && part !== against;
  });
}
