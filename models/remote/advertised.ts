/** Adapts tables of tools to a provider, once per table, since the requests of a process share one. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type JsonObject } from "../../contracts/base/json.ts";
import type { InferenceRequest } from "../../contracts/model/model.ts";
import { DESCRIBE_TOOL, fitTool, type ToolLimits } from "../../contracts/tool/tool_limits.ts";
import { sha256Hex } from "../../port/digest.ts";

/** A tool as sent to a provider. */
export interface WireTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the argument object. */
  readonly schema: JsonObject;
}

/** A table of tools as sent to a provider. */
export interface Advertised {
  readonly names: ToolNames;
  readonly tools: readonly WireTool[];
  /** Wire names of the tools. */
  readonly offered: ReadonlySet<string>;
  /** Whether the schema of a tool says that an argument is a string. */
  readonly isText: (tool: string, argument: string) => boolean;
}

/**
 * Adapts a table. `called`: tools that the conversation calls. Throws `invalidInput` for a schema that is not
 * an object.
 */
type Advertise = (
  table: InferenceRequest["tools"],
  called: readonly string[],
) => Advertised;

/** Makes a function that adapts tables to a provider's limits. Cached per table object: tables are immutable. */
export function makeAdvertise(limits: ToolLimits): Advertise {
  const known = new WeakMap<InferenceRequest["tools"], Advertised>();
  return (table, called) => {
    const found = known.get(table) ?? advertised(table, [], limits);
    known.set(table, found);
    // Tools that were removed since their call still take part in the mapping of names.
    return called.every((name) => table.some((tool) => tool.name === name))
      ? found
      : advertised(table, called, limits);
  };
}

function advertised(
  table: InferenceRequest["tools"],
  called: readonly string[],
  limits: ToolLimits,
): Advertised {
  const names = makeToolNames([...table.map(({ name }) => name), ...called]);
  const describe = table.some(({ name }) => name === DESCRIBE_TOOL);
  // The kernel offers no more than these; leaving out a tool is better than a request the provider refuses.
  const tools = table.slice(0, limits.tools).map(({ name, description, paramSchema }) => {
    const tool = { name, description, schema: parseSchema(paramSchema) };
    return { name: names.wire(name), ...fitTool(tool, limits, describe) };
  });
  const schemas = new Map(tools.map(({ name, schema }) => [name, schema]));
  return {
    names,
    tools,
    offered: new Set(tools.map(({ name }) => name)),
    isText(tool, argument) {
      const properties = schemas.get(tool)?.["properties"];
      const schema = isObject(properties) ? properties[argument] : undefined;
      return isObject(schema) && schema["type"] === "string";
    },
  };
}

/** Parses a schema. Throws `invalidInput` unless it is an object. */
export function parseSchema(text: string): JsonObject {
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) {
      return schema as JsonObject;
    }
  } catch {
    // Reported below.
  }
  throw new Fault("invalidInput", "Cannot infer: a schema of the request is not a JSON object");
}

// Wire names of tools: `[a-zA-Z0-9_-]{1,64}`, each mapped back to its tool.

const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_NAME = 64;
const MARK_CHARS = 8;

/** Maps between tool names and wire names. */
export interface ToolNames {
  /** The wire name of a tool in the set. */
  wire(name: string): string;
  /** The tool of a wire name; an unknown name unchanged, cut to 128 characters. */
  own(wire: string): string;
}

/**
 * Makes the map for a set of names; it depends on nothing else, nor on their order. A valid name stays. In
 * any other, invalid characters are replaced and a part of its digest is appended.
 */
export function makeToolNames(names: Iterable<string>): ToolNames {
  const all = [...new Set(names)].toSorted();
  const toWire = new Map<string, string>();
  const toOwn = new Map<string, string>();
  const put = (name: string, wire: string): void => {
    toWire.set(name, wire);
    toOwn.set(wire, name);
  };
  for (const name of all) if (FITTING.test(name)) put(name, name);
  for (const name of all) {
    if (toWire.has(name)) continue;
    const stem = name.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, MAX_NAME - MARK_CHARS - 1);
    // A valid name may look like a name with a digest.
    for (let mark = sha256Hex(name);; mark = sha256Hex(mark)) {
      const wire = `${stem}_${mark.slice(0, MARK_CHARS)}`;
      if (toOwn.has(wire)) continue;
      put(name, wire);
      break;
    }
  }
  return Object.freeze<ToolNames>({
    wire: (name) => {
      const wire = toWire.get(name);
      if (wire === undefined) throw new TypeError("Cannot name a tool: it was not in the set");
      return wire;
    },
    own: (wire) => toOwn.get(wire) ?? wire.slice(0, 128).toWellFormed(),
  });
}

/** A call id that every provider accepts: unchanged if valid, else derived from its digest. */
export function wireCallId(id: string): string {
  return /^[a-zA-Z0-9_-]{1,40}$/.test(id) ? id : `call_${sha256Hex(id).slice(0, 24)}`;
}
