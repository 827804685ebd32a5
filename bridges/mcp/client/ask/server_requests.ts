/**
 * Serves a server's requests: roots, input from a person, sampling. Everything else is refused.
 * Used by bridge.ts.
 * @module
 */
import { type Client, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";
import type {
  McpElicit,
  McpOpen,
  McpRoot,
  McpSample,
} from "../../../../contracts/wire/wire_mcp.ts";
import { parseJson } from "../../../../port/parse.ts";
import { misfit } from "../tool/schema_check.ts";
import type { KernelSide } from "../kernel_side.ts";
import type { ReportViolation } from "../limits.ts";

interface AskParts {
  readonly open: Pick<McpOpen, "elicitation" | "sampling">;
  readonly kernel: Pick<KernelSide, "elicit" | "sample">;
  readonly roots: () => readonly McpRoot[];
  /** The call that a request is attributed to. */
  readonly call: () => string | undefined;
  readonly report: ReportViolation;
}

/** The error code of a rejected request, by the specification of sampling. */
const REJECTED = -1;

/** Registers handlers for the server's requests, before the handshake. */
export function serveAsks(client: Client, { open, kernel, roots, call, report }: AskParts): void {
  const invalid = (why: string): ProtocolError => {
    report(`It asked ${why}`);
    return new ProtocolError(ProtocolErrorCode.InvalidParams, `Refused: ${why}`);
  };
  const attributed = (): { readonly call?: string } => {
    const id = call();
    return id === undefined ? {} : { call: id };
  };

  client.setRequestHandler("roots/list", () => ({
    roots: roots().map(({ uri, name }) => ({ uri, name })),
  }));

  if (open.elicitation) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      // TRUST: from the server; the SDK has checked it against the specification's schema.
      const given = params as unknown as JsonObject;
      const url = given["mode"] === "url";
      const schema = url ? undefined : formOf(given["requestedSchema"]);
      if (!url && schema === undefined) throw invalid("a person for more than a flat form");
      const asked = readElicit(given, schema);
      if (asked === undefined) throw invalid("a person for something too long");
      const answer = await refusing(kernel.elicit({ ...attributed(), ...asked }));
      if (answer.action !== "accept" || url) return { action: answer.action };
      const content = parseJson(answer.content ?? "{}", { depth: 4 });
      if (!isObject(content) || misfit(schema ?? {}, content) !== undefined) {
        return { action: "cancel" };
      }
      return { action: "accept", content: content as Record<string, string> };
    });
  }

  if (open.sampling) {
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const given = params as unknown as JsonObject;
      if (given["tools"] !== undefined || given["toolChoice"] !== undefined) {
        throw invalid("a model with tools");
      }
      const asked = readSample(given);
      if (asked === undefined) throw invalid("a model for more than some text");
      const { model, text, stop } = await refusing(kernel.sample({ ...attributed(), ...asked }));
      const stopReason = stop === "endTurn" ? "endTurn" : "maxTokens";
      return { model, role: "assistant", content: { type: "text", text }, stopReason };
    });
  }
}

/** Hides the reason of a refusal from the server. */
async function refusing<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch {
    throw new ProtocolError(REJECTED, "The user rejected the request");
  }
}

/** An elicitation within the bounds of contracts/wire/wire_mcp.ts; undefined beyond them. */
function readElicit(given: JsonObject, schema: JsonObject | undefined): McpElicit | undefined {
  const { message, url } = given;
  if (typeof message !== "string" || message.length > 8_192) return undefined;
  if (schema === undefined) {
    return typeof url === "string" && url.length <= 4_096 ? { message, url } : undefined;
  }
  const text = JSON.stringify(schema);
  return text.length <= 32_768 ? { message, schema: text } : undefined;
}

/** A sampling request of text within bounds; undefined for any other. */
function readSample(given: JsonObject): McpSample | undefined {
  const { systemPrompt: system = "", maxTokens } = given;
  const list = Array.isArray(given["messages"]) ? given["messages"].slice(0, 101) : [];
  const messages = list.map(textOf).filter((message) => message !== undefined);
  if (typeof system !== "string" || system.length > 65_536) return undefined;
  if (messages.length !== list.length || list.length < 1 || list.length > 100) return undefined;
  if (typeof maxTokens !== "number" || !Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    return undefined;
  }
  return { system, messages, maxTokens: Math.min(maxTokens, 1_000_000) };
}

function textOf(message: Json): McpSample["messages"][number] | undefined {
  if (!isObject(message)) return undefined;
  const { role, content } = message;
  const blocks = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) =>
    isObject(block) && block["type"] === "text" && typeof block["text"] === "string"
      ? [block["text"]]
      : []
  );
  const text = texts.join("\n");
  if (texts.length !== blocks.length || text.length > 1_000_000) return undefined;
  return { role: role === "assistant" ? "assistant" : "user", text };
}

const MAX_FIELDS = 64;
const MAX_OPTIONS = 256;
/** Keywords that a field's schema keeps. `pattern` is not among them: no expression of a stranger runs. */
const KEPT: readonly string[] = [
  ...["type", "title", "description", "default", "enum", "enumNames", "const", "format"],
  ...["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"],
];

/** The schema of a flat form, rebuilt from the keywords that are kept; undefined for any other schema. */
export function formOf(schema: Json | undefined): JsonObject | undefined {
  if (!isObject(schema) || schema["type"] !== "object") return undefined;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  const entries = Object.entries(properties);
  if (entries.length > MAX_FIELDS || !required.every((name) => typeof name === "string")) {
    return undefined;
  }
  const fields = entries.map(([name, field]) => [name, fieldOf(field)] as const);
  if (fields.some(([name, field]) => field === undefined || name.length > 128)) return undefined;
  return {
    type: "object",
    properties: Object.fromEntries(fields) as JsonObject,
    required: required.filter((name) => Object.hasOwn(properties, name)),
    additionalProperties: false,
  };
}

function fieldOf(field: Json): JsonObject | undefined {
  if (!isObject(field)) return undefined;
  const { type } = field;
  if (type === "string" || type === "number" || type === "integer" || type === "boolean") {
    return plain(field);
  }
  if (type !== "array" || !isObject(field["items"])) return undefined;
  const items = plain(field["items"]);
  const chosen = items?.["enum"] !== undefined || items?.["anyOf"] !== undefined;
  const list = plain(field);
  return chosen && items !== undefined && list !== undefined ? { ...list, items } : undefined;
}

/** A primitive's schema; undefined for one with structure. */
function plain(field: JsonObject): JsonObject | undefined {
  const kept = KEPT.flatMap((name) => {
    const value = Object.hasOwn(field, name) ? field[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  if (!kept.every(([, value]) => flat(value))) return undefined;
  const result: Record<string, Json> = Object.fromEntries(kept);
  // Choices with titles are lists of constants.
  for (const name of ["oneOf", "anyOf"]) {
    const choices = field[name];
    if (choices === undefined) continue;
    if (!Array.isArray(choices) || choices.length > MAX_OPTIONS) return undefined;
    const read = choices.map((choice) =>
      isObject(choice) && typeof choice["const"] === "string" ? plain(choice) : undefined
    );
    if (read.includes(undefined)) return undefined;
    result[name] = read as JsonObject[];
  }
  return result;
}

function flat(value: Json): boolean {
  if (!Array.isArray(value)) return typeof value !== "object" || value === null;
  return value.length <= MAX_OPTIONS && value.every((item) => typeof item !== "object");
}
