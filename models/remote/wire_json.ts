/** Reads a provider's JSON member by member. TRUST: from the provider; any member may be missing. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { again } from "./retry.ts";

/** Members of an object, not validated. */
export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = Object.freeze({});

/** The members of an object; none for any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Fields
    : NONE;
}

/** The items of an array; none for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string; empty for any other value. */
export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number; undefined for any other value. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Parses JSON; undefined if invalid. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses an event's data as an object. Throws `upstream`. */
export function parseEvent(data: string, host: string): Fields {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Fields;
    }
  } catch {
    // Reported below.
  }
  // Truncated in transit, or an error in plain text.
  const words = quoted(data);
  throw new Fault(
    "upstream",
    `Cannot infer: ${host} sends what is not its protocol${words === "" ? "" : `: ${words}`}`,
    { detail: again() },
  );
}

/** Characters quoted of a provider's error. */
const MAX_QUOTE = 300;
/** Nested levels of objects, arrays and JSON within strings that are searched for a message. */
const MAX_DEPTH = 6;
/** Members that hold an error message, the most specific first. */
const MESSAGE_MEMBERS = [
  ...["message", "error_description", "error", "detail", "details", "msg", "errors", "description"],
  ...["error_message", "errorMessage", "error_msg", "Message", "reason", "title", "raw"],
];

/** The message of an error in any format, shortened, on one line. */
export function quoted(body: string): string {
  const line = wordsOf(body, MAX_DEPTH).replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE - 1).toWellFormed()}…` : line;
}

/** Finds the message within objects, arrays, JSON in strings and proxies' HTML pages; without one, the whole text. */
function wordsOf(value: unknown, depth: number): string {
  if (typeof value === "string") return wordsOfText(value, depth);
  if (depth <= 0 || typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) {
    return value.slice(0, 3).map((each) => wordsOf(each, depth - 1)).filter(isSaid).join("; ");
  }
  const fields = fieldsOf(value);
  const found = MESSAGE_MEMBERS.map((name) => fields[name])
    .find((said) =>
      said !== undefined && said !== null && said !== "" && typeof said !== "boolean"
    );
  if (found === undefined) return JSON.stringify(value);
  const words = wordsOf(found, depth - 1);
  // A router reports briefly that a provider failed, and quotes the provider beside it.
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

const MAX_DIMENSIONS = 65_536;

/**
 * Normalises vectors to length 1. Throws `upstream` for empty vectors, unequal lengths and numbers that are
 * not finite.
 */
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
