/** Formats such as `@json` and `@csv`, and values as text. @module */
import { isList, type Json, toText } from "../values.ts";
import { FilterError, shown } from "./run_state.ts";

/**
 * Writes a value in a format. @throws {FilterError} for an unknown format or an unsuitable value
 */
export function formatText(format: string, value: Json): string {
  switch (format) {
    case "@text":
      return textOf(value);
    case "@json":
      return toText(value);
    case "@csv":
      return row(value, format).map(csvCell).join(",");
    case "@tsv":
      return row(value, format).map((cell) =>
        cell === null
          ? ""
          : textOf(cell).replace(/[\t\n\r\\]/g, (char) => TAB_ESCAPES[char] ?? char)
      ).join("\t");
    case "@html":
      return textOf(value).replace(/[<>&'"]/g, (char) => HTML_ESCAPES[char] ?? char);
    case "@uri":
      return encodeURIComponent(textOf(value).toWellFormed()).replace(
        /[!'()*]/g,
        (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
      );
    case "@sh":
      return (isList(value) ? value : [value]).map(quoted).join(" ");
    case "@base64":
      return bytesOf(textOf(value)).toBase64();
    case "@base64d":
      return fromBase64(textOf(value));
    default:
      throw new FilterError(`${format} is not a known format`);
  }
}

/** A text unchanged, anything else as JSON. */
export function textOf(value: Json): string {
  return typeof value === "string" ? value : toText(value);
}

const TAB_ESCAPES: Readonly<Record<string, string>> = {
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\\": "\\\\",
};
const HTML_ESCAPES: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  "'": "&#39;",
  '"': "&quot;",
};

function row(value: Json, format: string): readonly Json[] {
  if (!isList(value)) {
    throw new FilterError(`${shown(value)} cannot be ${format}-formatted, only an array can`);
  }
  const nested = value.find((cell) => typeof cell === "object" && cell !== null);
  if (nested !== undefined) {
    throw new FilterError(`${shown(nested)} is not valid in a ${format} row`);
  }
  return value;
}

function csvCell(cell: Json): string {
  if (cell === null) return "";
  return typeof cell === "string" ? `"${cell.replaceAll('"', '""')}"` : textOf(cell);
}

function quoted(value: Json): string {
  if (typeof value === "object" && value !== null) {
    throw new FilterError(`${shown(value)} can not be escaped for shell`);
  }
  return typeof value === "string" ? `'${value.replaceAll("'", `'\\''`)}'` : toText(value);
}

/** The UTF-8 bytes of a text; U+FFFD in place of half a surrogate pair. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function fromBase64(text: string): string {
  const signs = text.replace(/=+$/, "");
  let percent = "";
  let held = 0;
  let bits = 0;
  for (const sign of signs) {
    const value = BASE64.indexOf(sign);
    if (value < 0) throw new FilterError(`${shown(text)} is not valid base64 data`);
    held = ((held << 6) | value) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    percent += `%${((held >> bits) & 255).toString(16).padStart(2, "0")}`;
  }
  try {
    return decodeURIComponent(percent);
  } catch {
    throw new FilterError(`${shown(text)} holds bytes that are no UTF-8 text`);
  }
}
