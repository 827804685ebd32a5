/**
 * Checks values against JSON Schema 2020-12 by interpretation: generates no code, matches
 * expressions in linear time, and follows references only within the document. `format` is ignored,
 * the specification's default.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isList, isObject, type Json, type JsonObject } from "../values.ts";
import {
  below,
  type Check,
  type CheckState,
  escape,
  NOTHING,
  type Outcome,
  type Place,
  ruled,
  type SchemaError,
  together,
  wrong,
} from "./check_state.ts";
import { makePatterns, scalarRules } from "./scalar_rules.ts";
import { indexSchema } from "./schema_index.ts";

/** Maximum depth of schemas applied to one value: deeper means a circular reference. */
const DEEPEST_RULE = 200;

/**
 * All errors of `value`.
 *
 * @throws {Fault} `invalidArguments` for a schema with a bad keyword, pattern or reference,
 * `tooLarge` past the budget
 */
export function checkSchema(
  schema: Json,
  value: Json,
  { spend }: Pick<CheckState, "spend">,
): readonly SchemaError[] {
  checkForm(schema, { spend });
  const state: CheckState = { index: indexSchema(schema), spend };
  const matches = makePatterns(state);

  const check = (rules: Json, part: Json, place: Place): Outcome => {
    spend(1);
    if (rules === true) return NOTHING;
    if (rules === false) return wrong(place, "must not be here");
    if (!isObject(rules)) {
      throw new Fault("invalidArguments", `Cannot use the schema: ${place.rule || "it"} is none`);
    }
    const depth = place.depth + 1;
    if (depth > DEEPEST_RULE) {
      throw new Fault(
        "invalidArguments",
        `Cannot use the schema: it is nested too deep, or refers to itself for ever`,
      );
    }
    const here = { ...place, depth };
    const before = together([
      ...scalarRules(rules, part, here),
      patternRule(rules, part, here),
      ...branchRules(rules, part, { place: here, check, state }),
      ...objectRules(rules, part, here),
      ...arrayRules(rules, part, here),
    ]);
    return together([before, unevaluated(rules, part, { place: here, before })]);
  };

  const patternRule = (rules: JsonObject, part: Json, place: Place): Outcome => {
    const pattern = rules["pattern"];
    if (typeof pattern !== "string" || typeof part !== "string" || matches(pattern, part)) {
      return NOTHING;
    }
    return wrong(ruled(place, "pattern"), `must match ${pattern.slice(0, 80)}`);
  };

  const objectRules = (rules: JsonObject, part: Json, place: Place): readonly Outcome[] => {
    if (!isObject(part)) return [];
    const errors: SchemaError[] = [];
    const keys = new Set<string>();
    const known = objectAt(rules, "properties");
    const patterns = Object.entries(objectAt(rules, "patternProperties"));
    for (const [key, item] of Object.entries(part)) {
      const apply = (inner: Json, rule: string): void => {
        keys.add(key);
        for (const error of check(inner, item, below(place, key, rule)).errors) errors.push(error);
      };
      if (Object.hasOwn(known, key)) apply(known[key] ?? null, `properties/${escape(key)}`);
      for (const [pattern, inner] of patterns) {
        if (matches(pattern, key)) apply(inner, `patternProperties/${escape(pattern)}`);
      }
      const rest = rules["additionalProperties"];
      if (!keys.has(key) && rest !== undefined) apply(rest, "additionalProperties");
      const names = rules["propertyNames"];
      if (names === undefined) continue;
      for (const error of check(names, key, below(place, key, "propertyNames")).errors) {
        errors.push(error);
      }
    }
    return [{ errors, keys, items: NOTHING.items }];
  };

  const arrayRules = (rules: JsonObject, part: Json, place: Place): readonly Outcome[] => {
    if (!isList(part)) return [];
    // Until 2019-09 `items` held the list of schemas, and `additionalItems` the rest.
    const older = rules["items"] !== undefined && isList(rules["items"]);
    const head = older ? rules["items"] : rules["prefixItems"];
    const rest = older ? rules["additionalItems"] : rules["items"];
    const first = head !== undefined && isList(head) ? head : [];
    const errors: SchemaError[] = [];
    const items = new Set<number>();
    for (const [at, item] of part.entries()) {
      const inner = first[at] ?? rest;
      if (inner === undefined) continue;
      items.add(at);
      const rule = at < first.length ? `prefixItems/${at}` : "items";
      for (const error of check(inner, item, below(place, at, rule)).errors) errors.push(error);
    }
    return [{ errors, items, keys: NOTHING.keys }, ...containsRule(rules, part, place)];
  };

  const containsRule = (
    rules: JsonObject,
    part: readonly Json[],
    place: Place,
  ): readonly Outcome[] => {
    const inner = rules["contains"];
    if (inner === undefined) return [];
    const fitting = part.flatMap((item, at) =>
      check(inner, item, below(place, at, "contains")).errors.length === 0 ? [at] : []
    );
    const min = typeof rules["minContains"] === "number" ? rules["minContains"] : 1;
    const max = typeof rules["maxContains"] === "number" ? rules["maxContains"] : Infinity;
    const seen = { ...NOTHING, items: new Set(fitting) };
    if (fitting.length >= min && fitting.length <= max) return [seen];
    const words = fitting.length < min ? `at least ${min}` : `at most ${max}`;
    return [
      seen,
      wrong(
        ruled(place, "contains"),
        `must hold ${words} items that fit, and holds ${fitting.length}`,
      ),
    ];
  };

  const unevaluated = (
    rules: JsonObject,
    part: Json,
    { place, before }: { readonly place: Place; readonly before: Outcome },
  ): Outcome => {
    const found: Outcome[] = [];
    const [forKeys, forItems] = [rules["unevaluatedProperties"], rules["unevaluatedItems"]];
    if (forKeys !== undefined && isObject(part)) {
      for (const key of Object.keys(part).filter((name) => !before.keys.has(name))) {
        const { errors } = check(
          forKeys,
          part[key] ?? null,
          below(place, key, "unevaluatedProperties"),
        );
        found.push({ ...NOTHING, errors, keys: new Set([key]) });
      }
    }
    if (forItems !== undefined && isList(part)) {
      for (const [at, item] of part.entries()) {
        if (before.items.has(at)) continue;
        const { errors } = check(forItems, item, below(place, at, "unevaluatedItems"));
        found.push({ ...NOTHING, errors, items: new Set([at]) });
      }
    }
    return together(found);
  };

  return check(schema, value, { at: "", rule: "", depth: 0 }).errors;
}

function objectAt(rules: JsonObject, keyword: string): JsonObject {
  const found = rules[keyword];
  return found !== undefined && isObject(found) ? found : {};
}

// Rules that apply other schemas to the same value: references, all, any, one, not, if.

/** The context of branches. */
interface Branching {
  readonly place: Place;
  readonly check: Check;
  readonly state: CheckState;
}

/** The outcomes of the branches of `rules`. */
function branchRules(
  rules: JsonObject,
  value: Json,
  { place, check, state }: Branching,
): readonly Outcome[] {
  const found: Outcome[] = [];
  for (const keyword of ["$ref", "$dynamicRef"]) {
    const ref = rules[keyword];
    if (typeof ref === "string") {
      found.push(check(state.index.resolve(ref), value, ruled(place, keyword)));
    }
  }
  const listed = (keyword: string): readonly Outcome[] => {
    const schemas = rules[keyword];
    if (schemas === undefined || !isList(schemas)) return [];
    return schemas.map((inner, at) => check(inner, value, ruled(place, `${keyword}/${at}`)));
  };
  found.push(...listed("allOf"));
  if (rules["anyOf"] !== undefined) found.push(anyOf(listed("anyOf"), ruled(place, "anyOf")));
  if (rules["oneOf"] !== undefined) found.push(oneOf(listed("oneOf"), ruled(place, "oneOf")));
  if (rules["not"] !== undefined) {
    const { errors } = check(rules["not"], value, ruled(place, "not"));
    if (errors.length === 0) {
      found.push(wrong(ruled(place, "not"), "must not fit this schema, and does"));
    }
  }
  if (rules["if"] !== undefined) {
    const test = check(rules["if"], value, ruled(place, "if"));
    const keyword = test.errors.length === 0 ? "then" : "else";
    if (test.errors.length === 0) found.push(test);
    const inner = rules[keyword];
    if (inner !== undefined) found.push(check(inner, value, ruled(place, keyword)));
  }
  const dependent = rules["dependentSchemas"];
  if (dependent !== undefined && isObject(dependent) && isObject(value)) {
    for (const [key, inner] of Object.entries(dependent)) {
      if (Object.hasOwn(value, key)) {
        found.push(check(inner, value, ruled(place, `dependentSchemas/${key}`)));
      }
    }
  }
  return found;
}

function anyOf(outcomes: readonly Outcome[], place: Place): Outcome {
  const fitting = outcomes.filter(({ errors }) => errors.length === 0);
  return fitting.length > 0 ? together(fitting) : none(outcomes, place);
}

function oneOf(outcomes: readonly Outcome[], place: Place): Outcome {
  const fitting = outcomes.filter(({ errors }) => errors.length === 0);
  if (fitting.length === 1) return together(fitting);
  if (fitting.length === 0) return none(outcomes, place);
  return wrong(
    place,
    `must fit exactly one of ${outcomes.length} schemas, and fits ${fitting.length}`,
  );
}

/** None fits: reports the errors of the nearest schema, which are the most useful. */
function none(outcomes: readonly Outcome[], place: Place): Outcome {
  const nearest = outcomes.reduce<Outcome>(
    (best, next) => best === NOTHING || next.errors.length < best.errors.length ? next : best,
    NOTHING,
  );
  return together([
    wrong(place, `must fit one of ${outcomes.length} schemas, and fits none; the nearest says:`),
    { ...NOTHING, errors: nearest.errors.slice(0, 5) },
  ]);
}

// Checks a schema's form: a keyword of the wrong form would be silently ignored.

const TYPES = new Set(["null", "boolean", "integer", "number", "string", "array", "object"]);

const isCount = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: Json): boolean => typeof value === "number";
const isText = (value: Json): boolean => typeof value === "string";
const isTexts = (value: Json): boolean => isList(value) && value.every(isText);
const isSchema = (value: Json): boolean => typeof value === "boolean" || isObject(value);
const isSchemas = (value: Json): boolean => isList(value) && value.length > 0;
const isType = (value: Json): boolean => typeof value === "string" && TYPES.has(value);

/** A form's check and its description. */
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

/** Keywords that contain schemas. */
const WITHIN: ReadonlySet<string> = new Set(
  Object.keys(FORMS).filter((name) =>
    name === "items" || [SCHEMA, SCHEMAS, MAP].some((form) => FORMS[name] === form)
  ),
);

/**
 * Checks the form of every schema in a document.
 *
 * @throws {Fault} `invalidArguments` for a keyword of the wrong form, naming its place as a JSON
 * Pointer
 */
function checkForm(root: Json, { spend }: { spend(steps: number): void }): void {
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

function wrongForm(at: string, words: string): Fault {
  const place = at === "" ? "it" : `"${at.slice(0, 200)}"`;
  return new Fault("invalidArguments", `Cannot use the schema: ${place} is not ${words}`);
}
