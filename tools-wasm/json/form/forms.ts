/** The formats of documents: JSON, JSON lines, CSV, YAML and TOML. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { parse as parseToml, stringify as writeToml, TomlDate, TomlError } from "smol-toml";
import { LineCounter, parseAllDocuments, stringify as writeYaml } from "yaml";
import { checkValue, DEEPEST, isList, isObject, type Json, toText } from "../values.ts";
import { readJson, readLines, writeLines } from "./json_form.ts";

/** The formats. */
export type Form = "json" | "jsonl" | "csv" | "yaml" | "toml";

const ENDINGS: Readonly<Record<string, Form>> = {
  json: "json",
  geojson: "json",
  jsonl: "jsonl",
  ndjson: "jsonl",
  csv: "csv",
  tsv: "csv",
  yaml: "yaml",
  yml: "yaml",
  toml: "toml",
};

/** The format named by a file's ending; undefined for an unknown ending. */
export function formOf(path: string): Form | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}

/**
 * Parses a document. @throws {Fault} `invalidInput` with the line, `tooLarge` when it is nested too
 * deep
 */
export function readForm(form: Form, text: string, csv: CsvOptions): Json {
  switch (form) {
    case "json":
      return readJson(text);
    case "jsonl":
      return readLines(text);
    case "csv":
      return readCsv(text, csv);
    case "yaml":
      return readYaml(text);
    case "toml":
      return readToml(text);
  }
}

/**
 * Writes a value as a document. @throws {Fault} `invalidArguments` for a value outside the format
 */
export function writeForm(form: Form, value: Json, csv: CsvOptions): string {
  switch (form) {
    case "json":
      return `${toText(value, 2)}\n`;
    case "jsonl":
      return writeLines(value);
    case "csv":
      return writeCsv(value, csv);
    case "yaml":
      return writeYaml(value, { lineWidth: 0, aliasDuplicateObjects: false });
    case "toml":
      return toToml(value);
  }
}

/** Flow style nests by brackets; block style by indentation, at least one column a level. */
function refuseDeepYaml(text: string): void {
  let open = 0;
  let max = 0;
  for (const char of text.match(/[[\]{}]/g) ?? []) {
    open += char === "[" || char === "{" ? 1 : -1;
    max = Math.max(max, open);
  }
  const columns = /^(?:[ ]|- )*/gm;
  const indent = (text.match(columns) ?? []).reduce(
    (longest, blank) => Math.max(longest, blank.length),
    0,
  );
  if (max > DEEPEST || indent > DEEPEST * 8) {
    throw new Fault("tooLarge", `Cannot read the YAML: nested more than ${DEEPEST} deep`);
  }
}

function readYaml(text: string): Json {
  refuseDeepYaml(text);
  const lineCounter = new LineCounter();
  const parsed = parseAllDocuments(text, {
    lineCounter,
    uniqueKeys: true,
    intAsBigInt: true,
    prettyErrors: false,
  });
  const documents = Array.isArray(parsed) ? parsed : [];
  const values = documents.map((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      const { line } = lineCounter.linePos(error.pos[0]);
      throw new Fault("invalidInput", `Cannot read the YAML: line ${line}: ${error.message}`);
    }
    try {
      // Aliases are expanded: few are allowed, so that a small text cannot become a huge value.
      return checkValue(exact(document.toJS({ maxAliasCount: 100 })));
    } catch (cause) {
      if (cause instanceof ReferenceError) {
        throw new Fault("tooLarge", `Cannot read the YAML: ${cause.message}`);
      }
      throw cause;
    }
  });
  const [first = null] = values;
  return values.length > 1 ? values : first;
}

function readToml(text: string): Json {
  try {
    return checkValue(exact(parseToml(text, { integersAsBigInt: "asNeeded", maxDepth: DEEPEST })));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [why = ""] = cause.message.split("\n");
    throw new Fault("invalidInput", `Cannot read the TOML: line ${cause.line}: ${why}`);
  }
}

/** Turns exact whole numbers into JSON numbers, and dates into texts. */
function exact(value: unknown, depth = 0): unknown {
  if (typeof value === "bigint") {
    if (String(Number(value)) === String(value)) return Number(value);
    throw new Fault(
      "invalidInput",
      `Cannot read the whole number ${value}: it would lose digits (past 2^53). Put it in quotes`,
    );
  }
  if (value instanceof TomlDate || value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((item) => exact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, exact(item, depth + 1)]),
  );
}

function toToml(value: Json): string {
  if (!isObject(value)) {
    throw new Fault("invalidArguments", "Cannot write TOML: the value is not an object");
  }
  if (hasNull(value)) {
    throw new Fault("invalidArguments", "Cannot write TOML: it has no null; remove it first");
  }
  return writeToml(value);
}

function hasNull(value: Json): boolean {
  if (value === null) return true;
  if (isList(value)) return value.some(hasNull);
  return isObject(value) && Object.values(value).some(hasNull);
}

// CSV as text: rows with or without a header. Every cell is a text.

/** The separator of cells, and whether the first row names the columns. */
interface CsvOptions {
  /** One character. */
  readonly delimiter: string;
  readonly header: boolean;
}

/**
 * Parses rows, which end with CR LF, LF or CR: objects by the header's names, or arrays.
 *
 * @throws {Fault} `invalidInput` for an unclosed quote or one inside a cell, a row whose length
 * differs from the header's, or a repeated column name
 */
export function readCsv(text: string, { delimiter, header }: CsvOptions): Json {
  const rows = readRows(text.startsWith("\ufeff") ? text.slice(1) : text, delimiter);
  if (!header) return rows;
  const [names = [], ...rest] = rows;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot read the CSV: column "${twice}" is there twice; pass header: false`,
    );
  }
  return rest.map((row, at) => {
    if (row.length !== names.length) {
      throw new Fault(
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
      throw new Fault(
        "invalidInput",
        `Cannot read the CSV: row ${rows.length + 1} goes on behind a closing quote`,
      );
    } else at += 1;
    // A blank line is not a row; one with a quoted empty cell is.
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
      throw new Fault("invalidInput", `Cannot read the CSV: a quote in row ${row} is not closed`);
    }
    parts.push(text.slice(at, end));
    at = end + 1;
    if (text[at] !== '"') return { text: parts.join('"'), next: at };
    at += 1;
  }
}

/**
 * Writes an array of objects (with a header of all their keys, in order of appearance) or of
 * arrays.
 *
 * @throws {Fault} `invalidArguments` for any other value, and for cells with arrays or objects
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
    // A blank line would be parsed as no row.
    return `${line === "" && row.length === 1 ? '""' : line}\r\n`;
  }).join("");
}

function writeCell(cell: Json, delimiter: string): string {
  if (cell === null) return "";
  if (typeof cell === "object") {
    throw new Fault(
      "invalidArguments",
      `Cannot write CSV: a cell holds ${toText(cell).slice(0, 60)}; turn it into text`,
    );
  }
  const text = String(cell);
  const plain = ![delimiter, '"', "\n", "\r"].some((char) => text.includes(char)) &&
    text.trim() === text;
  return plain ? text : `"${text.replaceAll('"', '""')}"`;
}

function notRows(): Fault {
  return new Fault(
    "invalidArguments",
    "Cannot write CSV: give an array of objects, or an array of arrays",
  );
}
