/**
 * Holds a value against a JSON Schema, with bounded work: no pattern, no format and no reference to elsewhere is
 * followed. The schema was reviewed, the value comes from the server.
 * @module
 */
import { Fault } from "../../../../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";
import { canonicalJson } from "../../../../port/canonical.ts";
import { cutText } from "../limits.ts";

/** Schemas that are applied to values, all together. */
const STEPS = 200_000;
/** Schemas within schemas, and values within values. */
const DEPTH = 64;

interface Held {
  readonly root: Json;
  readonly count: { steps: number };
  readonly depth: number;
  /** JSON pointer to the value. */
  readonly at: string;
}

/** Says what of a value does not fit; undefined when it does. */
type Rule = (schema: JsonObject, value: Json, held: Held) => string | undefined;

/**
 * Holds `value` against `schema`: undefined when it fits, else where it does not and why.
 *
 * @throws Fault `tooLarge` when that takes more work than it may
 */
export function misfit(schema: Json, value: Json): string | undefined {
  return hold(schema, value, { root: schema, count: { steps: STEPS }, depth: DEPTH, at: "" });
}

function hold(schema: Json | undefined, value: Json, held: Held): string | undefined {
  if (--held.count.steps < 0 || held.depth <= 0) {
    throw new Fault("tooLarge", "Cannot hold the result against its schema: too much work");
  }
  if (schema === false) return say(held, "nothing may stand here");
  if (!isObject(schema)) return undefined;
  const deeper: Held = { ...held, depth: held.depth - 1 };
  for (const rule of RULES) {
    const why = rule(schema, value, deeper);
    if (why !== undefined) return why;
  }
  return undefined;
}

function say({ at }: Held, why: string): string {
  return at === "" ? why : `${JSON.stringify(cutText(at, 120))}: ${why}`;
}

function below(held: Held, name: string | number): Held {
  return { ...held, at: `${held.at}/${name}` };
}

const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  array: Array.isArray,
  object: isObject,
};

const typed: Rule = ({ type }, value, held) => {
  if (type === undefined) return undefined;
  const names = Array.isArray(type) ? type : [type];
  const fits = names.some((name) =>
    typeof name === "string" && Object.hasOwn(TYPES, name) && TYPES[name]?.(value) === true
  );
  return fits ? undefined : say(held, `must be ${cutText(names.join(" or "), 60)}`);
};

const one: Rule = (schema, value, held) => {
  const { enum: values } = schema;
  const same = (other: Json): boolean =>
    other === value ||
    (typeof other === "object" && typeof value === "object" &&
      canonicalJson(other) === canonicalJson(value));
  const listed = !Array.isArray(values) || values.some(same);
  const wanted = schema["const"];
  return listed && (wanted === undefined || same(wanted))
    ? undefined
    : say(held, "must be one of the listed values");
};

const number: Rule = (schema, value, held) => {
  if (typeof value !== "number") return undefined;
  const limit = (name: string, fits: (bound: number) => boolean): string | undefined => {
    const bound = schema[name];
    return typeof bound !== "number" || fits(bound) ? undefined : say(held, `${name} is ${bound}`);
  };
  return limit("minimum", (bound) => value >= bound) ??
    limit("maximum", (bound) => value <= bound) ??
    limit("exclusiveMinimum", (bound) => value > bound) ??
    limit("exclusiveMaximum", (bound) => value < bound) ??
    limit("multipleOf", (bound) => isMultiple(value, bound));
};

/** 0.3 is a multiple of 0.1 although their quotient is 2.9999999999999996. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

const sized: Rule = (schema, value, held) => {
  const [noun, size] = typeof value === "string"
    ? ["Length", [...value].length]
    : Array.isArray(value)
    ? ["Items", value.length]
    : isObject(value)
    ? ["Properties", Object.keys(value).length]
    : ["", 0];
  if (noun === "") return undefined;
  const [min, max] = [schema[`min${noun}`], schema[`max${noun}`]];
  if (typeof min === "number" && size < min) return say(held, `min${noun} is ${min}`);
  return typeof max === "number" && size > max ? say(held, `max${noun} is ${max}`) : undefined;
};

const members: Rule = (schema, value, held) => {
  if (!isObject(value)) return undefined;
  const { required, properties, additionalProperties, propertyNames } = schema;
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === "string" && !Object.hasOwn(value, name)) {
      return say(held, `needs ${JSON.stringify(cutText(name, 60))}`);
    }
  }
  // Patterns are not tried: where there are any, every further member may be meant by one.
  const others = schema["patternProperties"] === undefined ? additionalProperties : undefined;
  for (const [name, item] of Object.entries(value)) {
    const known = isObject(properties) && Object.hasOwn(properties, name);
    const why = hold(known ? properties[name] : others, item, below(held, name)) ??
      hold(propertyNames, name, below(held, name));
    if (why !== undefined) return why;
  }
  return undefined;
};

const items: Rule = (schema, value, held) => {
  if (!Array.isArray(value)) return undefined;
  const { items, prefixItems, uniqueItems } = schema;
  // Before 2020-12 a list of `items` was what `prefixItems` is.
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  for (const [index, item] of value.entries()) {
    const why = hold(index < first.length ? first[index] : rest, item, below(held, index));
    if (why !== undefined) return why;
  }
  if (
    uniqueItems === true && new Set(value.map((item) => canonicalJson(item))).size < value.length
  ) {
    return say(held, "holds an item twice");
  }
  return undefined;
};

const joined: Rule = (schema, value, held) => {
  const list = (name: string): readonly Json[] => {
    const schemas = schema[name];
    return Array.isArray(schemas) ? schemas : [];
  };
  const fits = (part: Json | undefined): boolean => hold(part, value, held) === undefined;
  for (const part of list("allOf")) {
    const why = hold(part, value, held);
    if (why !== undefined) return why;
  }
  const any = list("anyOf"), exactly = list("oneOf");
  if (any.length > 0 && !any.some(fits)) return say(held, "fits none of its forms");
  if (exactly.length > 0 && exactly.filter(fits).length !== 1) {
    return say(held, "fits not exactly one of its forms");
  }
  if (schema["not"] !== undefined && fits(schema["not"])) {
    return say(held, "has a form it must not");
  }
  if (schema["if"] === undefined) return undefined;
  return hold(fits(schema["if"]) ? schema["then"] : schema["else"], value, held);
};

const referred: Rule = ({ $ref }, value, held) => {
  if (typeof $ref !== "string") return undefined;
  const target = resolve(held.root, $ref);
  return target === undefined ? undefined : hold(target, value, held);
};

/** A reference within the schema; undefined for any other, which nothing is held against. */
function resolve(root: Json, ref: string): Json | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

const RULES: readonly Rule[] = [typed, one, number, sized, members, items, joined, referred];
