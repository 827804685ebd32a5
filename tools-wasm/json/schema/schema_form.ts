/** Whether a schema is one: a keyword of the wrong form would be a rule that never says anything. @module */
import { Refusal } from "../refusal.ts";
import { isList, isObject, type Json, type JsonObject } from "../values.ts";
import { escape } from "./check_state.ts";

const TYPES = new Set(["null", "boolean", "integer", "number", "string", "array", "object"]);

const isCount = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: Json): boolean => typeof value === "number";
const isText = (value: Json): boolean => typeof value === "string";
const isTexts = (value: Json): boolean => isList(value) && value.every(isText);
const isSchema = (value: Json): boolean => typeof value === "boolean" || isObject(value);
const isSchemas = (value: Json): boolean => isList(value) && value.length > 0;
const isType = (value: Json): boolean => typeof value === "string" && TYPES.has(value);

/** A form, and how it is called. */
type Form = readonly [holds: (value: Json) => boolean, words: string];

const COUNT: Form = [isCount, "a whole number from 0"];
const NUMBER: Form = [isNumber, "a number"];
const SCHEMA: Form = [isSchema, "a schema: an object, or true or false"];
const SCHEMAS: Form = [isSchemas, "a list of schemas"];
const MAP: Form = [isObject, "an object of schemas"];

const FORMS: Readonly<Record<string, Form>> = {
  type: [
    (value) => isType(value) || isList(value) && value.every(isType),
    `one of ${[...TYPES].join(", ")}, or a list of them`,
  ],
  enum: [isList, "a list of values"],
  required: [isTexts, "a list of names"],
  dependentRequired: [
    (value) => isObject(value) && Object.values(value).every(isTexts),
    "an object of lists of names",
  ],
  pattern: [isText, "a text"],
  uniqueItems: [(value) => typeof value === "boolean", "true or false"],
  multipleOf: [(value) => typeof value === "number" && value > 0, "a number above 0"],
  ...named(NUMBER, "minimum maximum exclusiveMinimum exclusiveMaximum"),
  ...named(COUNT, "minLength maxLength minItems maxItems minProperties maxProperties"),
  ...named(COUNT, "minContains maxContains"),
  items: [(value) => isSchema(value) || isList(value), SCHEMA[1]],
  ...named(SCHEMA, "additionalItems additionalProperties propertyNames contains not if then else"),
  ...named(SCHEMA, "unevaluatedItems unevaluatedProperties"),
  ...named(SCHEMAS, "allOf anyOf oneOf prefixItems"),
  ...named(MAP, "properties patternProperties dependentSchemas $defs definitions"),
};

function named(form: Form, names: string): Readonly<Record<string, Form>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, form]));
}

/** Keywords beneath which schemas stand. */
const WITHIN: ReadonlySet<string> = new Set(
  Object.keys(FORMS).filter((name) =>
    name === "items" || [SCHEMA, SCHEMAS, MAP].some((form) => FORMS[name] === form)
  ),
);

/**
 * Looks at every schema of a document.
 *
 * @throws {Refusal} `invalidArguments` for a keyword of the wrong form, naming its place as a JSON Pointer
 */
export function checkForm(root: Json, { spend }: { spend(steps: number): void }): void {
  const open: { readonly schema: Json; readonly at: string }[] = [{ schema: root, at: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema, at } = next;
    spend(1);
    if (typeof schema === "boolean") continue;
    if (!isObject(schema)) throw wrongForm(at, SCHEMA[1]);
    for (const [name, value] of Object.entries(schema)) {
      const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
      if (form === undefined) continue;
      const place = `${at}/${name}`;
      if (!form[0](value)) throw wrongForm(place, form[1]);
      if (WITHIN.has(name)) open.push(...schemasIn(name, value, place));
    }
  }
}

function schemasIn(name: string, value: Json, at: string) {
  if (FORMS[name] !== MAP && !isList(value)) return [{ schema: value, at }];
  return Object.entries(value as JsonObject)
    .map(([key, schema]) => ({ schema, at: `${at}/${escape(key)}` }));
}

function wrongForm(at: string, words: string): Refusal {
  const place = at === "" ? "it" : `"${at.slice(0, 200)}"`;
  return new Refusal("invalidArguments", `Cannot use the schema: ${place} is not ${words}`);
}
