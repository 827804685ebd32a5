/** A table of tools as a provider is told of it: made once, since the requests of a process share one. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type JsonObject } from "../../contracts/base/json.ts";
import type { InferenceRequest } from "../../contracts/model/model.ts";
import { DESCRIBE_TOOL, fitTool, type ToolLimits } from "../../contracts/tool/tool_limits.ts";
import { sha256Hex } from "../../port/digest.ts";

/** A tool as a provider is told of it. */
export interface WireTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the argument object. */
  readonly schema: JsonObject;
}

/** A table on the wire. */
export interface Advertised {
  readonly names: ToolNames;
  readonly tools: readonly WireTool[];
  /** Names of the tools on the wire. */
  readonly offered: ReadonlySet<string>;
  /** Whether an argument of a tool is a text, and nothing else, by its schema. */
  readonly isText: (tool: string, argument: string) => boolean;
}

/**
 * Makes what a provider is told of a table, where the conversation calls tools of these names. Throws
 * `invalidInput` for a schema that is not an object.
 */
type Advertise = (
  table: InferenceRequest["tools"],
  called: readonly string[],
) => Advertised;

/**
 * Fits tools to what their provider takes. Remembers each table for as long as anyone holds it: tables are
 * never changed.
 */
export function makeAdvertise(limits: ToolLimits): Advertise {
  const known = new WeakMap<InferenceRequest["tools"], Advertised>();
  return (table, called) => {
    const found = known.get(table) ?? advertised(table, [], limits);
    known.set(table, found);
    // Tools that went away since they were called have a say in the names of the others.
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
  // The kernel offers no more than these: one request too long is worse than a tool left out.
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

/** A schema as an object. Throws `invalidInput`. */
export function parseSchema(text: string): JsonObject {
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) {
      return schema as JsonObject;
    }
  } catch {
    // Told below.
  }
  throw new Fault("invalidInput", "Cannot infer: a schema of the request is not a JSON object");
}

// Names of tools on the wire: `[a-zA-Z0-9_-]{1,64}`, each back to the name that it stands for.

const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST = 64;
const MARK_CHARS = 8;

/** The names of one request, both ways. */
export interface ToolNames {
  /** The name on the wire of a name that the map was made of. */
  wire(name: string): string;
  /** The name that `wire` stands for; itself, cut to 128, when it was not advertised. */
  own(wire: string): string;
}

/**
 * Makes the map of a set of names; nothing else of the request has a say in it, nor their order. A name
 * that fits stays as it is. Another loses what does not fit and gets a mark of its digest.
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
    const stem = name.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, LONGEST - MARK_CHARS - 1);
    // Digests differ; a name that looks like one may still stand there.
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

/** A call's id as every provider takes it: itself where it fits, else one made of its digest. */
export function wireCallId(id: string): string {
  return /^[a-zA-Z0-9_-]{1,40}$/.test(id) ? id : `call_${sha256Hex(id).slice(0, 24)}`;
}
