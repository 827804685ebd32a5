/** JSON and JSON lines as text. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { checkValue, DEEPEST, type Json, toText } from "../values.ts";

/**
 * Parses one JSON value.
 *
 * @throws {Fault} `invalidInput` for a syntax error and for whole numbers (past 2^53) that would
 * lose digits
 */
export function readJson(text: string): Json {
  refuseDeep(text);
  try {
    return checkNumbers(text, JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new Fault("invalidInput", `Cannot read the JSON: ${error.message}`);
    }
    throw error;
  }
}

/** Parses JSON lines: one value a line, blank lines skipped. */
export function readLines(text: string): Json {
  const values: Json[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      values.push(readJson(line));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new Fault(error.code, `${error.message} (in line ${at + 1})`);
    }
  }
  return values;
}

/** Writes an array as JSON lines. */
export function writeLines(value: Json): string {
  if (!Array.isArray(value)) {
    throw new Fault(
      "invalidArguments",
      "Cannot write JSON lines: the value is not an array. Wrap it: [ … ]",
    );
  }
  return value.map((item) => `${toText(item)}\n`).join("");
}

/** The parser recurses: deeply nested brackets must not reach it. */
function refuseDeep(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfText(text, at);
    else if (char === LIST || char === OBJECT) depth += 1;
    else if (char === LIST + 2 || char === OBJECT + 2) depth -= 1;
    if (depth > DEEPEST) {
      throw new Fault("tooLarge", `Cannot read the JSON: nested more than ${DEEPEST} deep`);
    }
  }
}
const [QUOTE, LIST, OBJECT] = [0x22, 0x5b, 0x7b];

/** The index of the quote that closes the text opened at `at`. */
function endOfText(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}

const LONG_NUMBER = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;

function checkNumbers(text: string, value: unknown): Json {
  // Only a text with this many digits in a row, or an exponent, can hold an inexact number.
  if (/\d{16}|\d[eE]\+?\d{3}/.test(text)) {
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at] ?? "";
      if (char === '"') at = endOfText(text, at);
      else if (/[-\d]/.test(char)) {
        LONG_NUMBER.lastIndex = at;
        const number = LONG_NUMBER.exec(text)?.[0] ?? "";
        refuseInexact(number);
        at += Math.max(0, number.length - 1);
      }
    }
  }
  return checkValue(value);
}

function refuseInexact(number: string): void {
  if (number.length > 15 && /^-?\d+$/.test(number) && String(Number(number)) !== number) {
    throw new Fault(
      "invalidInput",
      `Cannot read the whole number ${
        number.slice(0, 40)
      }: it would lose digits (past 2^53). Put it in quotes`,
    );
  }
}
