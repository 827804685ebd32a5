/** Resolves `$ref` within the schema's own document. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { isList, isObject, type Json } from "../values.ts";

/** Schemas by their names. */
export interface SchemaIndex {
  /** @throws {Fault} `invalidArguments` for a name that is not in the document */
  resolve(ref: string): Json;
}

/** Keywords that contain only data. */
const DATA = new Set(["enum", "const", "default", "examples"]);

/** A part of a schema; `own`: an enclosing part, other than the whole, has an `$id`. */
interface Part {
  readonly schema: Json;
  readonly own: boolean;
}

/**
 * Indexes `$id`, `$anchor` and `$dynamicAnchor` of a document.
 *
 * @throws {Fault} `invalidArguments` for a schema that combines several documents
 */
export function indexSchema(root: Json): SchemaIndex {
  const named = new Map<string, Json>();
  const open: Part[] = [{ schema: root, own: false }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { schema } = part;
    if (isList(schema)) { for (const item of schema) open.push({ schema: item, own: part.own }); }
    if (!isObject(schema)) continue;
    const own = part.own || (schema !== root && typeof schema["$id"] === "string");
    for (const [key, value] of Object.entries(schema)) {
      if (typeof value === "string") {
        if (key === "$id") remember(named, value.replace(/#$/, ""), schema);
        else if (/^\$(?:dynamicAnchor|anchor)$/.test(key)) remember(named, `#${value}`, schema);
        else if (/^\$(?:dynamicRef|ref)$/.test(key) && own && value.startsWith("#")) {
          throw severalDocuments(
            `"${key}": "${value.slice(0, 80)}" stands in a part with an $id of its own`,
          );
        }
      }
      if (!DATA.has(key)) open.push({ schema: value, own });
    }
  }
  const resolve = (ref: string): Json => {
    const [base = "", fragment = ""] = ref.split("#", 2);
    const document = base === "" ? root : named.get(base) ?? bySuffix(named, base);
    const found = document === undefined
      ? undefined
      : fragment === ""
      ? document
      : fragment.startsWith("/")
      ? pointed(document, fragment)
      : named.get(`#${fragment}`);
    if (found !== undefined) return found;
    throw new Fault(
      "invalidArguments",
      `Cannot follow "$ref": "${
        ref.slice(0, 120)
      }": it is not in this schema, and others are not fetched. Put it under $defs`,
    );
  };
  return Object.freeze({ resolve });
}

function remember(named: Map<string, Json>, name: string, schema: Json): void {
  if (named.has(name) && name !== "#") {
    throw severalDocuments(`"${name.slice(0, 80)}" is there twice`);
  }
  named.set(name, schema);
}

function severalDocuments(why: string): Fault {
  return new Fault("invalidArguments", `Cannot use the schema: ${why}; write it as one document`);
}

/** Matches a relative name with an absolute `$id`: `item.json` with `https://…/item.json`. */
function bySuffix(named: ReadonlyMap<string, Json>, name: string): Json | undefined {
  for (const [id, schema] of named) {
    if (id.endsWith(`/${name.replace(/^\.?\//, "")}`)) return schema;
  }
  return undefined;
}

function pointed(document: Json, pointer: string): Json | undefined {
  let here: Json | undefined = document;
  for (const segment of pointer.slice(1).split("/")) {
    const key = unescaped(segment);
    if (here !== undefined && isList(here)) here = here[Number(key)];
    else if (here !== undefined && isObject(here) && Object.hasOwn(here, key)) here = here[key];
    else return undefined;
  }
  return here;
}

function unescaped(segment: string): string {
  let plain = segment;
  try {
    plain = decodeURIComponent(segment);
  } catch {
    // A percent sign that begins no escape stands for itself.
  }
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}
