/** Every text in what a server says of a tool, with where it stands. @module */
import { isList, isObject } from "../../../contracts/json.ts";
import type { Json, McpToolWords } from "../../../contracts/mod.ts";

/** One text. */
export interface Said {
  /** For a reviewer: `description`, `parameter "edits[].text"`. */
  readonly where: string;
  readonly text: string;
  /** The name of a parameter, or anything else. */
  readonly kind: "name" | "words";
}

/** Texts that are looked at, most; a schema may hold thousands. */
const MOST = 3_000;
const DEEPEST = 64;

/** All texts of a tool but its name. */
export function saidOf(words: McpToolWords): readonly Said[] {
  const all: Said[] = [];
  const add = (where: string, text: string | undefined, kind: Said["kind"] = "words"): void => {
    if (text !== undefined && text !== "" && all.length < MOST) all.push({ where, text, kind });
  };
  add("description", words.description);
  add("title", words.title);
  add("title", words.annotations?.title);
  const walk = (value: Json, path: string, what: "parameter" | "result", depth: number): void => {
    if (depth > DEEPEST || all.length >= MOST) return;
    const where = path === "" ? `${what}s` : `${what} "${path}"`;
    if (typeof value === "string") return add(where, value);
    if (isList(value)) {
      for (const each of value) walk(each, path, what, depth + 1);
    } else if (isObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        if ((key === "properties" || key === "patternProperties") && isObject(each)) {
          for (const [name, schema] of Object.entries(each)) {
            const inner = path === "" ? name : `${path}.${name}`;
            add(`${what} "${inner}"`, name, "name");
            walk(schema, inner, what, depth + 1);
          }
        } else if (key === "required" && isList(each)) {
          for (const name of each) {
            if (typeof name === "string") {
              add(`${what} "${path === "" ? name : `${path}.${name}`}"`, name, "name");
            }
          }
        } else if (key === "items") walk(each, `${path}[]`, what, depth + 1);
        else if (!SILENT.has(key)) walk(each, path, what, depth + 1);
      }
    }
  };
  walk(words.inputSchema, "", "parameter", 0);
  if (words.outputSchema !== undefined) walk(words.outputSchema, "", "result", 0);
  return all;
}

/** Their texts reach no model. */
const SILENT: ReadonlySet<string> = new Set(["$schema", "$ref", "$id"]);
