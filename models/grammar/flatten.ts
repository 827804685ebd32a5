/** Follows references and conjunctions until a schema stands for itself. @module */
import { isList, isObject, type Json, type JsonObject } from "../../contracts/json.ts";
import { ANYTHING, merge, NOTHING } from "./merge.ts";
import { parseLevel } from "./parse.ts";
import { asSchema, type Flat, type Schema, wrong } from "./schema.ts";

/** Most references and conjunctions within each other. */
const DEEPEST = 64;

/** Makes schemas of one document flat, each once. */
export type Flatten = (schema: Schema, at: string) => Flat;

/** Makes the {@link Flatten} of a document. It faults with `invalidInput` where a reference leads nowhere. */
export function makeFlatten(root: Schema): Flatten {
  const known = new WeakMap<JsonObject, Flat>();
  const leadsBack = makeLeadsBack(root);

  const flatten = (schema: Schema, at: string, under: readonly JsonObject[]): Flat => {
    if (typeof schema === "boolean") return schema ? ANYTHING : NOTHING;
    const kept = known.get(schema);
    if (kept !== undefined) return kept;
    if (under.includes(schema) || under.length > DEEPEST) {
      throw wrong(at, "it refers to itself without end");
    }
    const within = [...under, schema];
    let flat = parseLevel(schema, at);
    const { $ref, allOf } = schema;
    if ($ref !== undefined) {
      if (typeof $ref !== "string") throw wrong(`${at}/$ref`, "it is not a reference");
      flat = merge(flatten(target(root, $ref, at), $ref.slice(1), within), flat);
      if (leadsBack($ref)) flat = { ...flat, recursive: true };
    }
    if (allOf !== undefined) {
      if (!isList(allOf)) throw wrong(`${at}/allOf`, "it is not a list");
      allOf.forEach((each, n) => {
        const place = `${at}/allOf/${n}`;
        flat = merge(flat, flatten(asSchema(each, place), place, within));
      });
    }
    known.set(schema, flat);
    return flat;
  };
  return (schema, at) => flatten(schema, at, []);
}

function target(root: Schema, reference: string, at: string): Schema {
  if (reference !== "#" && !reference.startsWith("#/")) {
    throw wrong(`${at}/$ref`, `${JSON.stringify(reference)} refers outside the schema`);
  }
  let found: Json | undefined = root;
  for (const part of reference.split("/").slice(1)) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, key)
      ? found[key]
      : isList(found) && /^\d{1,6}$/.test(key)
      ? found[Number(key)]
      : undefined;
  }
  if (found === undefined) {
    throw wrong(`${at}/$ref`, `${JSON.stringify(reference)} leads nowhere`);
  }
  return asSchema(found, reference);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A stray percent sign stands for itself.
    return part;
  }
}

/** Tells of a reference whether it is met again beneath what it refers to. */
function makeLeadsBack(root: Schema): (reference: string) => boolean {
  const direct = new Map<string, ReadonlySet<string>>();
  const beneath = (reference: string): ReadonlySet<string> => {
    const kept = direct.get(reference);
    if (kept !== undefined) return kept;
    const found = new Set<string>();
    const look = (value: Json): void => {
      if (isList(value)) value.forEach(look);
      else if (isObject(value)) {
        if (typeof value["$ref"] === "string") found.add(value["$ref"]);
        Object.values(value).forEach(look);
      }
    };
    look(target(root, reference, ""));
    direct.set(reference, found);
    return found;
  };
  const answers = new Map<string, boolean>();
  return (reference) => {
    const known = answers.get(reference);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    const open = [...beneath(reference)];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...beneath(next));
    }
    // A definition around the reference is met again as well.
    const back = [...seen].some((each) => reference === each || reference.startsWith(`${each}/`));
    answers.set(reference, back);
    return back;
  };
}
