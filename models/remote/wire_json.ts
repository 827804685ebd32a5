/** JSON of a provider, read member by member. TRUST: from the provider; anything may be missing. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { again } from "./retry.ts";

/** Members of an object. */
export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = Object.freeze({});

/** The members of an object; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Fields
    : NONE;
}

/** The items of a list; none for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text; the empty one for anything else. */
export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Text as JSON; undefined where it is none. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An event's data as an object. Throws `upstream`. */
export function parseEvent(data: string, host: string): Fields {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Fields;
    }
  } catch {
    // Told below.
  }
  // Torn on its way, or an error in plain words.
  const words = quoted(data);
  throw new Fault(
    "upstream",
    `Cannot infer: ${host} sends what is not its protocol${words === "" ? "" : `: ${words}`}`,
    { detail: again() },
  );
}

/** Longest quotation of a provider's words. */
const WORDS = 300;
/** Levels of objects, lists and JSON within text that are looked into for words. */
const DEPTH = 6;
/** Where errors say what is wrong, the most particular first. */
const SAID = [
  ...["message", "error_description", "error", "detail", "details", "msg", "errors", "description"],
  ...["error_message", "errorMessage", "error_msg", "Message", "reason", "title", "raw"],
];

/** The provider's own words about an error in whatever form it sends them, cut, on one line. */
export function quoted(body: string): string {
  const line = wordsOf(body, DEPTH).replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > WORDS ? `${line.slice(0, WORDS - 1).toWellFormed()}…` : line;
}

/** Words within objects, lists, JSON in text, and pages of proxies; where none is found, all of it. */
function wordsOf(value: unknown, depth: number): string {
  if (typeof value === "string") return wordsOfText(value, depth);
  if (depth <= 0 || typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) {
    return value.slice(0, 3).map((each) => wordsOf(each, depth - 1)).filter(isSaid).join("; ");
  }
  const fields = fieldsOf(value);
  const found = SAID.map((name) => fields[name])
    .find((said) =>
      said !== undefined && said !== null && said !== "" && typeof said !== "boolean"
    );
  if (found === undefined) return JSON.stringify(value);
  const words = wordsOf(found, depth - 1);
  // A router tells in few words that another failed, and beside them what that one said.
  const raw = fieldsOf(fields["metadata"])["raw"];
  const others = raw === undefined || raw === null ? "" : wordsOf(raw, depth - 1);
  return others === "" || others === words ? words : `${words}: ${others}`;
}

function wordsOfText(text: string, depth: number): string {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    const inner = tryJson(trimmed);
    if (inner !== undefined) return wordsOf(inner, depth - 1);
  }
  if (!/^<(?:!doctype|html|head|body|\?xml)/i.test(trimmed)) return text;
  return trimmed.replaceAll(/<(style|script)\b[^<]*(?:<(?!\/\1)[^<]*)*/gi, " ")
    .replaceAll(/<[^>]*>?/g, " ");
}

function isSaid(text: string): boolean {
  return text.trim() !== "";
}

/** Longest vector that is taken. */
const MAX_DIMENSIONS = 65_536;

/** Throws `upstream` where vectors differ in length, are empty, or hold what is not finite. */
export function unitVectors(
  rows: readonly (readonly number[])[],
  host: string,
): readonly Float32Array[] {
  const length = rows[0]?.length ?? 0;
  return rows.map((row) => {
    if (row.length !== length || length === 0 || length > MAX_DIMENSIONS) {
      throw new Fault("upstream", `Cannot embed: ${host} sends vectors of unequal or no length`);
    }
    const vector = Float32Array.from(row);
    let squares = 0;
    for (const value of vector) squares += value * value;
    if (!Number.isFinite(squares)) {
      throw new Fault("upstream", `Cannot embed: ${host} sends numbers that are not finite`);
    }
    const norm = Math.sqrt(squares);
    return norm === 0 ? vector : vector.map((value) => value / norm);
  });
}
