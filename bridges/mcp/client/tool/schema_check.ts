/**
 * Checks a value against a JSON Schema with bounded work: patterns, formats and references outside
 * the schema are ignored. A person reviewed the schema; the value comes from the server. Used by
 * call.ts and server_requests.ts.
 * @module
 */
import { Fault } from "../../../../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";
import { canonicalJson } from "../../../../port/canonical.ts";
import { cutText } from "../limits.ts";

/** Applications of a schema to a value, in total. */
const MAX_STEPS = 200_000;
/** Nesting of schemas and of values. */
const MAX_DEPTH = 64;

interface Check {
  readonly root: Json;
  readonly count: { steps: number };
  readonly depth: number;
  /** JSON pointer to the value. */
  readonly at: string;
}

/** Says why a value does not fit; undefined when it does. */
type Rule = (schema: JsonObject, value: Json, check: Check) => string | undefined;

/**
 * Checks `value` against `schema`: undefined when it fits, else where and why it does not.
 *
 * @throws Fault `tooLarge` beyond the bounds on work
 */
export function misfit(schema: Json, value: Json): string | undefined {
  return violation(schema, value, {
    root: schema,
    count: { steps: MAX_STEPS },
    depth: MAX_DEPTH,
    at: "",
  });
}

function violation(schema: Json | undefined, value: Json, check: Check): string | undefined {
  if (--check.count.steps < 0 || check.depth <= 0) {
    throw new Fault("tooLarge", "Cannot hold the result against its schema: too much work");
  }
  if (schema === false) return say(check, "nothing may stand here");
  if (!isObject(schema)) return undefined;
  const deeper: Check = { ...check, depth: check.depth - 1 };
  for (const rule of RULES) {
    const why = rule(schema, value, deeper);
    if (why !== undefined) return why;
  }
  return undefined;
}

function say({ at }: Check, why: string): string {
  return at === "" ? why : `${JSON.stringify(cutText(at, 120))}: ${why}`;
}

function below(check: Check, name: string | number): Check {
  return { ...check, at: `${check.at}/${name}` };
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

const typed: Rule = ({ type }, value, check) => {
  if (type === undefined) return undefined;
  const names = Array.isArray(type) ? type : [type];
  const fits = names.some((name) =>
    typeof name === "string" && Object.hasOwn(TYPES, name) && TYPES[name]?.(value) === true
  );
  return fits ? undefined : say(check, `must be ${cutText(names.join(" or "), 60)}`);
};

const one: Rule = (schema, value, check) => {
  const { enum: values } = schema;
  const same = (other: Json): boolean =>
    other === value ||
    (typeof other === "object" && typeof value === "object" &&
      canonicalJson(other) === canonicalJson(value));
  const listed = !Array.isArray(values) || values.some(same);
  const wanted = schema["const"];
  return listed && (wanted === undefined || same(wanted))
    ? undefined
    : say(check, "must be one of the listed values");
};

const number: Rule = (schema, value, check) => {
  if (typeof value !== "number") return undefined;
  const limit = (name: string, fits: (bound: number) => boolean): string | undefined => {
    const bound = schema[name];
    return typeof bound !== "number" || fits(bound) ? undefined : say(check, `${name} is ${bound}`);
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

const sized: Rule = (schema, value, check) => {
  const [noun, size] = typeof value === "string"
    ? ["Length", [...value].length]
    : Array.isArray(value)
    ? ["Items", value.length]
    : isObject(value)
    ? ["Properties", Object.keys(value).length]
    : ["", 0];
  if (noun === "") return undefined;
  const [min, max] = [schema[`min${noun}`], schema[`max${noun}`]];
  if (typeof min === "number" && size < min) return say(check, `min${noun} is ${min}`);
  return typeof max === "number" && size > max ? say(check, `max${noun} is ${max}`) : undefined;
};

const members: Rule = (schema, value, check) => {
  if (!isObject(value)) return undefined;
  const { required, properties, additionalProperties, propertyNames } = schema;
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === "string" && !Object.hasOwn(value, name)) {
      return say(check, `needs ${JSON.stringify(cutText(name, 60))}`);
    }
  }
  // Patterns are not evaluated: with `patternProperties`, any other member may match one.
  const others = schema["patternProperties"] === undefined ? additionalProperties : undefined;
  for (const [name, item] of Object.entries(value)) {
    const known = isObject(properties) && Object.hasOwn(properties, name);
    const why = violation(known ? properties[name] : others, item, below(check, name)) ??
      violation(propertyNames, name, below(check, name));
    if (why !== undefined) return why;
  }
  return undefined;
};

const items: Rule = (schema, value, check) => {
  if (!Array.isArray(value)) return undefined;
  const { items, prefixItems, uniqueItems } = schema;
  // Before draft 2020-12 an array in `items` meant what `prefixItems` means.
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  for (const [index, item] of value.entries()) {
    const why = violation(index < first.length ? first[index] : rest, item, below(check, index));
    if (why !== undefined) return why;
  }
  if (
    uniqueItems === true && new Set(value.map((item) => canonicalJson(item))).size < value.length
  ) {
    return say(check, "holds an item twice");
  }
  return undefined;
};

const joined: Rule = (schema, value, check) => {
  const list = (name: string): readonly Json[] => {
    const schemas = schema[name];
    return Array.isArray(schemas) ? schemas : [];
  };
  const fits = (part: Json | undefined): boolean => violation(part, value, check) === undefined;
  for (const part of list("allOf")) {
    const why = violation(part, value, check);
    if (why !== undefined) return why;
  }
  const any = list("anyOf"), exactly = list("oneOf");
  if (any.length > 0 && !any.some(fits)) return say(check, "fits none of its forms");
  if (exactly.length > 0 && exactly.filter(fits).length !== 1) {
    return say(check, "fits not exactly one of its forms");
  }
  if (schema["not"] !== undefined && fits(schema["not"])) {
    return say(check, "has a form it must not");
  }
  if (schema["if"] === undefined) return undefined;
  return violation(fits(schema["if"]) ? schema["then"] : schema["else"], value, check);
};

const referred: Rule = ({ $ref }, value, check) => {
  if (typeof $ref !== "string") return undefined;
  const target = resolve(check.root, $ref);
  return target === undefined ? undefined : violation(target, value, check);
};

/** The target of a reference within the schema; undefined for any other, which is ignored. */
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
