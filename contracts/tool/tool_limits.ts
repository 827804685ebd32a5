/**
 * Limits of each provider on a table of tools, in one place: a request with one tool beyond a limit
 * is refused as a whole, so that no task runs. Built-in tools, plugins and imported tools are
 * adapted alike.
 *
 * From the providers' public references and error messages (November 2026): chat completions refuse
 * descriptions over 1,024 characters, more than 128 tools or calls of a message, and schemas with
 * `anyOf` and the like at the root; the messages API refuses such roots, and property names outside
 * its pattern. The size of a request is limited elsewhere: the kernel offers what fits into the
 * context window's share.
 * @module
 */
import type { Json, JsonObject } from "../base/json.ts";
import { isObject } from "../base/json.ts";

/** Limits of one provider's protocol. */
export interface ToolLimits {
  /** Maximum length of a name on the wire; its characters are `[a-zA-Z0-9_-]` everywhere. */
  readonly name: number;
  /** Maximum length of a description, UTF-16 units. */
  readonly description: number;
  /** Maximum number of tools in a request. */
  readonly tools: number;
  /** Maximum levels of subschemas, the root included. */
  readonly depth: number;
  /** Keywords that the root of a schema may not have. */
  readonly notAtRoot: readonly string[];
  /** Required pattern of property names; absent: none. */
  readonly property?: RegExp;
  /** Whether a list's schema must define its items. */
  readonly items: boolean;
}

/** Remit's own limits for a descriptor and for a table (`ToolDescriptor`, `InferenceRequest`). */
const OWN: ToolLimits = {
  name: 64,
  description: 4_096,
  tools: 512,
  depth: 32,
  notAtRoot: [],
  items: false,
};

/** By kind of backend; a server with another provider's protocol counts as that kind. */
export const TOOL_LIMITS: Readonly<Record<string, ToolLimits>> = Object.freeze({
  openai: {
    ...OWN,
    description: 1_024,
    tools: 128,
    depth: 10,
    notAtRoot: ["anyOf", "oneOf", "allOf", "not", "enum"],
    items: true,
  },
  anthropic: {
    ...OWN,
    notAtRoot: ["anyOf", "oneOf", "allOf"],
    property: /^[a-zA-Z0-9_.-]{1,64}$/,
  },
  // Chat templates of models ignore these keywords at a schema's root.
  ollama: { ...OWN, notAtRoot: ["anyOf", "oneOf", "allOf"] },
});

/** The limits of a backend; Remit's own for a local backend. */
export function toolLimits(backend: string): ToolLimits {
  return Object.hasOwn(TOOL_LIMITS, backend) ? TOOL_LIMITS[backend] ?? OWN : OWN;
}

/** The tool that returns a complete description. */
export const DESCRIBE_TOOL = "tool_describe";

/** A tool's description and schema for models. */
export interface ToolWords {
  readonly description: string;
  /** JSON Schema of the argument object. */
  readonly schema: JsonObject;
}

/** Whether a provider accepts a tool unchanged. */
export function fitsLimits(tool: ToolWords, limits: ToolLimits): boolean {
  return tool.description.length <= limits.description &&
    fitSchema(tool.schema, limits).left.length === 0;
}

/**
 * Adapts a tool to a provider's limits. If `describe` is true, the description says how to ask for
 * omitted parts. A loosened schema is still enforced by the gate, which uses the tool's own.
 */
export function fitTool(
  tool: ToolWords & { readonly name: string },
  limits: ToolLimits,
  describe: boolean,
): ToolWords {
  const { schema, left } = fitSchema(tool.schema, limits);
  if (tool.description.length <= limits.description && left.length === 0) {
    return { description: tool.description, schema };
  }
  const loosened = left.length === 0 ? "" : ` Arguments must also fit: ${left.join("; ")}.`;
  const more = describe
    ? ` […] All of it: ${DESCRIBE_TOOL} {"name":${JSON.stringify(tool.name)}}.`
    : " […]";
  const whole = `${tool.description}${loosened}`;
  if (whole.length <= limits.description) return { description: whole, schema };
  return { description: cutTo(whole, limits.description - more.length) + more, schema };
}

/** Cuts to at most `most` UTF-16 units, at the end of a sentence or word if one is near. */
function cutTo(text: string, most: number): string {
  const head = text.slice(0, most);
  const sentence = head.lastIndexOf(". ") + 1;
  const at = sentence > most * 0.8 ? sentence : head.lastIndexOf(" ");
  return head.slice(0, at > most / 2 ? at : most).toWellFormed().trimEnd();
}

/** Keywords with subschemas by name, in a list, or single. */
const NAMED: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const LISTED: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SINGLE: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
]);
/** Maximum characters in a description about an omitted rule. */
const RULE = 300;

/** Adapts a schema to a provider's limits; `left` describes the omitted rules. */
export function fitSchema(
  schema: JsonObject,
  limits: ToolLimits,
): { readonly schema: JsonObject; readonly left: readonly string[] } {
  const left: string[] = [];
  const leave = (what: string): void => void left.push(short(what));

  const object = (from: JsonObject, level: number): JsonObject => {
    if (level > limits.depth) {
      leave(`deeper than ${limits.depth} levels: ${JSON.stringify(from)}`);
      const { type, description } = from;
      return {
        ...(type === undefined || type === "array" ? {} : { type }),
        ...(description === undefined ? {} : { description }),
      };
    }
    const out: Record<string, Json> = {};
    for (const [key, value] of Object.entries(from)) out[key] = keyword(key, value, level);
    if (isObject(out["properties"])) fitProperties(out, limits, leave);
    if (limits.items && isArray(out) && out["items"] === undefined) out["items"] = {};
    return out;
  };
  const any = (value: Json, level: number): Json => {
    if (Array.isArray(value)) return value.map((each) => any(each, level));
    return isObject(value) ? object(value, level) : value;
  };
  const keyword = (key: string, value: Json, level: number): Json => {
    if (NAMED.has(key) && isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, any(each, level + 1)]),
      );
    }
    return LISTED.has(key) || SINGLE.has(key) ? any(value, level + 1) : value;
  };

  const root: Record<string, Json> = {};
  const branches: JsonObject[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (!limits.notAtRoot.includes(key)) {
      root[key] = value;
      continue;
    }
    leave(`${key} ${JSON.stringify(value)}`);
    if (key !== "not" && Array.isArray(value)) branches.push(...value.filter(isObject));
  }
  // Keep properties that occur only in the branches.
  for (const { properties } of branches) {
    if (!isObject(properties)) continue;
    const own = isObject(root["properties"]) ? root["properties"] : {};
    root["properties"] = { ...own, ...properties, ...own };
  }
  return { schema: object({ ...root, type: "object" }, 1), left };
}

/** Moves properties with refused names into the description; they stay allowed. */
function fitProperties(
  out: Record<string, Json>,
  { property }: ToolLimits,
  leave: (what: string) => void,
): void {
  if (property === undefined || !isObject(out["properties"])) return;
  const all = Object.entries(out["properties"]);
  const unfit = all.filter(([name]) => !property.test(name));
  if (unfit.length === 0) return;
  const names = new Set(unfit.map(([name]) => name));
  out["properties"] = Object.fromEntries(all.filter(([name]) => !names.has(name)));
  if (out["additionalProperties"] === false) delete out["additionalProperties"];
  if (Array.isArray(out["required"])) {
    out["required"] = out["required"].filter((name) =>
      typeof name !== "string" || !names.has(name)
    );
  }
  for (const [name, value] of unfit) {
    leave(`also ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  }
}

function isArray({ type }: JsonObject): boolean {
  return type === "array" || (Array.isArray(type) && type.includes("array"));
}

function short(text: string): string {
  return text.length <= RULE ? text : `${text.slice(0, RULE).toWellFormed()}…`;
}
