/** The keywords of a schema whose value holds no further schema. @module */
import { isList } from "../../../contracts/json.ts";
import type { Json, JsonObject } from "../../../contracts/mod.ts";
import { cleanText } from "./clean_text.ts";
import { isPlain } from "./_schema_json.ts";
import type { SchemaNotes } from "./_schema_notes.ts";

const TYPES: ReadonlySet<Json> = new Set(
  ["string", "number", "integer", "boolean", "object", "array", "null"],
);
const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COUNTS = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
];
/** Words for a model in place of a check: nothing that a server made up. */
const FORMATS: ReadonlySet<Json> = new Set(
  ("date-time date time duration email hostname ipv4 ipv6 uri uri-reference url uuid regex " +
    "json-pointer int32 int64 float double byte binary password iri").split(" "),
);
const LONGEST_WORDS = 1_024;
const LONGEST_PATTERN = 120;
const LONGEST_VALUE = 256;
const MOST_CHOICES = 500;
const LONGEST_CHOICES = 8_192;
const MOST_EXAMPLES = 3;

/** What may be kept of the plain keywords of `schema`, which stands at `at` under the name `name`. */
export function plainKeywords(
  schema: JsonObject,
  { at, name, notes }: { readonly at: string; readonly name: string; readonly notes: SchemaNotes },
): Record<string, Json> {
  const kept: Record<string, Json> = {};
  const type = typeOf(schema);
  if (type !== undefined) kept["type"] = type;
  else if (schema["type"] !== undefined) notes.loosen("an unknown type is not checked", at);
  const words = wordsOf(schema, name);
  if (words !== "") kept["description"] = words;
  for (const key of NUMBERS) {
    const value = schema[key];
    if (value === undefined) continue;
    const isRight = typeof value === "number" && Number.isFinite(value) &&
      (key !== "multipleOf" || value > 0);
    if (isRight) kept[key] = value;
    else notes.loosen(`"${key}" is not checked`, at);
  }
  for (const key of COUNTS) {
    const value = schema[key];
    if (value === undefined) continue;
    if (Number.isSafeInteger(value) && Number(value) >= 0) kept[key] = value;
    else notes.loosen(`"${key}" is not checked`, at);
  }
  if (schema["enum"] !== undefined) {
    const choices = choicesOf(schema["enum"]);
    if (choices !== undefined) kept["enum"] = choices;
    else notes.loosen("a list of choices that is empty, too long or not readable is not held", at);
  }
  const fixed = schema["const"];
  if (fixed !== undefined) {
    if (isPlain(fixed, LONGEST_VALUE)) kept["const"] = fixed;
    else notes.loosen("a fixed value that is too long or not readable is not held", at);
  }
  const usual = schema["default"];
  if (usual !== undefined && isPlain(usual, LONGEST_VALUE)) kept["default"] = usual;
  const { examples } = schema;
  if (isList(examples)) {
    const shown = examples.slice(0, MOST_EXAMPLES).filter((each) => isPlain(each, LONGEST_VALUE));
    if (shown.length > 0) kept["examples"] = shown;
  }
  for (const key of ["pattern", "format"]) {
    if (schema[key] !== undefined) notes.loosen(`"${key}" is told, not checked`, at);
  }
  return kept;
}

function typeOf({ type, nullable }: JsonObject): Json | undefined {
  const said = isList(type) ? type : type === undefined ? [] : [type];
  const known = [...new Set(said)].filter((each) => TYPES.has(each));
  if (known.length === 0 || known.length !== new Set(said).size) return undefined;
  const all = nullable === true && !known.includes("null") ? [...known, "null"] : known;
  return all.length === 1 ? all[0] : all;
}

/** Its description, else its title where that says more than the name; and what is told in place of checks. */
function wordsOf({ description, title, format, pattern }: JsonObject, name: string): string {
  const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const said = [description, title].map((each) => typeof each === "string" ? each : "")
    .map((each) => cleanText(each, LONGEST_WORDS).text.trim())
    .find((each, n) => each !== "" && (n === 0 || letters(each) !== letters(name)));
  const parts = said === undefined ? [] : [said];
  if (format !== undefined && FORMATS.has(format)) parts.push(`(format: ${format})`);
  if (typeof pattern === "string" && /^[\x20-\x7e]+$/.test(pattern)) {
    if (pattern.length <= LONGEST_PATTERN) parts.push(`(pattern: ${pattern})`);
  }
  return parts.join(" ");
}

function choicesOf(choices: Json): readonly Json[] | undefined {
  if (!isList(choices) || choices.length === 0 || choices.length > MOST_CHOICES) return undefined;
  if (!choices.every((each) => isPlain(each, LONGEST_VALUE))) return undefined;
  const distinct = new Map(choices.map((each) => [JSON.stringify(each), each]));
  const size = [...distinct.keys()].reduce((sum, each) => sum + each.length, 0);
  return size > LONGEST_CHOICES ? undefined : [...distinct.values()];
}
