/** A table of tools as a provider is told of it: made once, since the requests of a process share one. @module */
import { Fault } from "../../contracts/fault.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";
import type { InferenceRequest } from "../../contracts/model.ts";
import { DESCRIBE_TOOL, fitTool, type ToolLimits } from "../../contracts/tool_limits.ts";
import { makeToolNames, type ToolNames } from "./tool_names.ts";

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
export type Advertise = (
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
