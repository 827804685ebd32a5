/** The forms that documents come in: JSON, JSON lines, CSV, YAML and TOML. @module */
import { parse as parseToml, stringify as writeToml, TomlDate, TomlError } from "smol-toml";
import { LineCounter, parseAllDocuments, stringify as writeYaml } from "yaml";
import { Refusal } from "../refusal.ts";
import { checkValue, DEEPEST, isList, isObject, type Json, toText } from "../values.ts";
import { type CsvOptions, readCsv, writeCsv } from "./csv_form.ts";
import { readJson, readLines, writeLines } from "./json_form.ts";

/** The forms. */
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

/** The form that a file's name tells; undefined when it tells none. */
export function formOf(path: string): Form | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
}

/** Reads a document. @throws {Refusal} `invalidInput` with the line, `tooLarge` when it is nested too deep. */
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

/** Writes a value as a document. @throws {Refusal} `invalidArguments` for a value that the form cannot hold. */
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

/** Nesting in the flow style is brackets; in the block style it is indentation, one column a level at least. */
function refuseDeepYaml(text: string): void {
  let open = 0;
  let most = 0;
  for (const char of text.match(/[[\]{}]/g) ?? []) {
    open += char === "[" || char === "{" ? 1 : -1;
    most = Math.max(most, open);
  }
  const columns = /^(?:[ ]|- )*/gm;
  const indent = (text.match(columns) ?? []).reduce(
    (longest, blank) => Math.max(longest, blank.length),
    0,
  );
  if (most > DEEPEST || indent > DEEPEST * 8) {
    throw new Refusal("tooLarge", `Cannot read the YAML: nested more than ${DEEPEST} deep`);
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
      throw new Refusal("invalidInput", `Cannot read the YAML: line ${line}: ${error.message}`);
    }
    try {
      // Aliases are written out: few, so that a small text cannot become a huge value.
      return checkValue(exact(document.toJS({ maxAliasCount: 100 })));
    } catch (cause) {
      if (cause instanceof ReferenceError) {
        throw new Refusal("tooLarge", `Cannot read the YAML: ${cause.message}`);
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
    throw new Refusal("invalidInput", `Cannot read the TOML: line ${cause.line}: ${why}`);
  }
}

/** Whole numbers that a JSON number holds exactly become one, dates become texts. */
function exact(value: unknown, depth = 0): unknown {
  if (typeof value === "bigint") {
    if (String(Number(value)) === String(value)) return Number(value);
    throw new Refusal(
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
    throw new Refusal("invalidArguments", "Cannot write TOML: the value is not an object");
  }
  if (hasNull(value)) {
    throw new Refusal("invalidArguments", "Cannot write TOML: it has no null; remove it first");
  }
  return writeToml(value);
}

function hasNull(value: Json): boolean {
  if (value === null) return true;
  if (isList(value)) return value.some(hasNull);
  return isObject(value) && Object.values(value).some(hasNull);
}
