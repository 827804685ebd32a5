/** CSV as text: rows with or without a header. Every cell is a text. @module */
import { Refusal } from "../refusal.ts";
import { isList, isObject, type Json, toText } from "../values.ts";

/** How cells are set apart, and whether the first row names the columns. */
export interface CsvOptions {
  /** One character. */
  readonly delimiter: string;
  readonly header: boolean;
}

/**
 * Reads rows, which end with CR LF, LF or CR: objects by the header's names, or arrays.
 *
 * @throws {Refusal} `invalidInput` for a quote that is not closed or stands inside a cell, a row of another length
 * than the header, or a column named twice.
 */
export function readCsv(text: string, { delimiter, header }: CsvOptions): Json {
  const rows = readRows(text.startsWith("\ufeff") ? text.slice(1) : text, delimiter);
  if (!header) return rows;
  const [names = [], ...rest] = rows;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new Refusal(
      "invalidInput",
      `Cannot read the CSV: column "${twice}" is there twice; pass header: false`,
    );
  }
  return rest.map((row, at) => {
    if (row.length !== names.length) {
      throw new Refusal(
        "invalidInput",
        `Cannot read the CSV: row ${
          at + 2
        } has ${row.length} cells, and the header ${names.length}`,
      );
    }
    return Object.fromEntries(names.map((name, column) => [name, row[column] ?? ""]));
  });
}

function readRows(text: string, delimiter: string): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const cell = text[at] === '"'
      ? quotedCell(text, at, rows.length + 1)
      : plainCell(text, at, delimiter);
    row.push(cell.text);
    const quoted = text[at] === '"';
    at = cell.next;
    if (text[at] === delimiter) {
      at += 1;
      if (at < text.length) continue;
      row.push("");
    } else if (text.startsWith("\r\n", at)) at += 2;
    else if (at < text.length && text[at] !== "\n" && text[at] !== "\r") {
      throw new Refusal(
        "invalidInput",
        `Cannot read the CSV: row ${rows.length + 1} goes on behind a closing quote`,
      );
    } else at += 1;
    // A blank line is no row; one with an empty cell in quotes is.
    if (row.length > 1 || row[0] !== "" || quoted) rows.push(row);
    row = [];
  }
  return rows;
}

interface Cell {
  readonly text: string;
  readonly next: number;
}

function plainCell(text: string, from: number, delimiter: string): Cell {
  let at = from;
  for (; at < text.length; at += 1) {
    const char = text[at];
    if (char === delimiter || char === "\n" || char === "\r") break;
  }
  return { text: text.slice(from, at), next: at };
}

function quotedCell(text: string, from: number, row: number): Cell {
  const parts: string[] = [];
  let at = from + 1;
  while (true) {
    const end = text.indexOf('"', at);
    if (end < 0) {
      throw new Refusal("invalidInput", `Cannot read the CSV: a quote in row ${row} is not closed`);
    }
    parts.push(text.slice(at, end));
    at = end + 1;
    if (text[at] !== '"') return { text: parts.join('"'), next: at };
    at += 1;
  }
}

/**
 * Writes an array of objects (with a header of all their keys, in order of appearance) or of arrays.
 *
 * @throws {Refusal} `invalidArguments` for any other value, and for cells that hold arrays or objects.
 */
export function writeCsv(value: Json, { delimiter, header }: CsvOptions): string {
  if (!isList(value)) throw notRows();
  const names = new Set<string>();
  for (const row of value) {
    if (isObject(row)) {
      for (const name of Object.keys(row)) names.add(name);
    }
  }
  const lines: (readonly Json[])[] = header && names.size > 0 ? [[...names]] : [];
  for (const row of value) {
    if (isObject(row)) {
      lines.push([...names].map((name) => Object.hasOwn(row, name) ? row[name] ?? null : null));
    } else if (isList(row) && names.size === 0) lines.push(row);
    else throw notRows();
  }
  return lines.map((row) => {
    const line = row.map((cell) => writeCell(cell, delimiter)).join(delimiter);
    // A blank line would be read as no row.
    return `${line === "" && row.length === 1 ? '""' : line}\r\n`;
  }).join("");
}

function writeCell(cell: Json, delimiter: string): string {
  if (cell === null) return "";
  if (typeof cell === "object") {
    throw new Refusal(
      "invalidArguments",
      `Cannot write CSV: a cell holds ${toText(cell).slice(0, 60)}; turn it into text`,
    );
  }
  const text = String(cell);
  const plain = ![delimiter, '"', "\n", "\r"].some((char) => text.includes(char)) &&
    text.trim() === text;
  return plain ? text : `"${text.replaceAll('"', '""')}"`;
}

function notRows(): Refusal {
  return new Refusal(
    "invalidArguments",
    "Cannot write CSV: give an array of objects, or an array of arrays",
  );
}
