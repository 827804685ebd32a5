/** One tool, resource, template or prompt as a server describes it: bounded, as contracts/mcp.ts has it. @module */
import { isObject, type JsonObject } from "../../../../contracts/json.ts";
import type { McpPromptWords, McpResourceWords, McpToolWords } from "../../../../contracts/mcp.ts";
import { fieldsOf, Malformed, present } from "./fields.ts";

const SCHEMA_UNITS = 65_536;

function schemaOf(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  if (schema !== undefined && JSON.stringify(schema).length > SCHEMA_UNITS) {
    throw new Malformed(`${name} is longer than ${SCHEMA_UNITS} characters`);
  }
  return schema;
}

/** Reads a tool. Throws {@link Malformed}. */
export function readTool(item: JsonObject): McpToolWords {
  const fields = fieldsOf(item);
  const inputSchema = schemaOf(fields.object("inputSchema"), "inputSchema");
  if (inputSchema === undefined) throw new Malformed("inputSchema is missing");
  const annotations = fields.object("annotations");
  return present<McpToolWords>({
    name: fields.needed("name", 256),
    title: fields.text("title", 1_024),
    description: fields.text("description", 65_536),
    inputSchema: inputSchema as McpToolWords["inputSchema"],
    outputSchema: schemaOf(fields.object("outputSchema"), "outputSchema") as
      | McpToolWords["outputSchema"]
      | undefined,
    annotations: annotations === undefined ? undefined : readAnnotations(annotations),
  });
}

function readAnnotations(item: JsonObject): McpToolWords["annotations"] {
  const fields = fieldsOf(item);
  return present<NonNullable<McpToolWords["annotations"]>>({
    title: fields.text("title", 1_024),
    readOnlyHint: fields.flag("readOnlyHint"),
    destructiveHint: fields.flag("destructiveHint"),
    idempotentHint: fields.flag("idempotentHint"),
    openWorldHint: fields.flag("openWorldHint"),
  });
}

/** Reads a resource. Throws {@link Malformed}. */
export function readResource(item: JsonObject): McpResourceWords {
  return { uri: fieldsOf(item).needed("uri", 4_096), ...readNamed(item) };
}

/** Reads a template. Throws {@link Malformed}. */
export function readTemplate(item: JsonObject): McpResourceWords {
  return { uriTemplate: fieldsOf(item).needed("uriTemplate", 4_096), ...readNamed(item) };
}

function readNamed(item: JsonObject): McpResourceWords {
  const fields = fieldsOf(item);
  return present<McpResourceWords>({
    name: fields.text("name", 512) ?? "",
    title: fields.text("title", 1_024),
    description: fields.text("description", 8_192),
    mimeType: fields.text("mimeType", 256),
    size: fields.number("size"),
  });
}

/** Reads a prompt. Throws {@link Malformed}. */
export function readPrompt(item: JsonObject): McpPromptWords {
  const fields = fieldsOf(item);
  return present<McpPromptWords>({
    name: fields.needed("name", 256),
    title: fields.text("title", 1_024),
    description: fields.text("description", 8_192),
    arguments: fields.list("arguments", 64).map((argument) => {
      if (!isObject(argument)) throw new Malformed("arguments holds what is no object");
      const given = fieldsOf(argument);
      return present<McpPromptWords["arguments"][number]>({
        name: given.needed("name", 256),
        description: given.text("description", 4_096),
        required: given.flag("required"),
      });
    }),
  });
}
