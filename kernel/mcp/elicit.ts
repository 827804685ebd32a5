/**
 * What an imported server asks a person: a question of kind `elicit`, answered by a signed answer and never by a model.
 * Its words are shown as a stranger's.
 * @module
 */
import { isObject } from "../../contracts/json.ts";
import {
  type Answer,
  Fault,
  type ImportedServer,
  type Json,
  type JsonObject,
  type Label,
  type McpElicit,
  type McpElicited,
} from "../../contracts/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import type { McpAsks, McpCallAt } from "./asking.ts";
import type { McpLog } from "./log.ts";

/** What {@link makeMcpElicit} is handed. */
export interface McpElicitParts {
  readonly asks: Pick<McpAsks, "ask">;
  readonly log: Pick<McpLog, "note">;
  /** How confidential what a server knows is. */
  labelOf(at: { readonly task: McpCallAt["task"]; readonly server: ImportedServer }): Label;
}

/** Asks the person; whatever goes wrong, the server hears `cancel`. */
export type McpElicits = (at: McpCallAt, asked: McpElicit) => Promise<McpElicited>;

/** See {@link McpElicits}. */
export function makeMcpElicit({ asks, log, labelOf }: McpElicitParts): McpElicits {
  return async (at, asked) => {
    const { server } = at, { message, schema, url } = asked;
    const mode = url === undefined ? "form" : "url";
    const ended = (action: McpElicited["action"], why?: string): McpElicited => {
      log.note(at, "elicit", { mode, action, ...(why === undefined ? {} : { why }) }, message);
      return { action };
    };
    if (!server.elicitation) return ended("cancel", "off");
    const fields = schema === undefined ? undefined : schemaIn(schema);
    if (schema !== undefined && fields === undefined) return ended("cancel", "schema");
    let answer: Answer | undefined;
    try {
      answer = await asks.ask(at, {
        kind: "elicit",
        summary: url === undefined
          ? `the imported server "${server.name}" asks you for input, which it will be sent`
          : `the imported server "${server.name}" asks you to visit an address; Remit opens none`,
        said: {
          ...{ server: server.name, message: message.toWellFormed() },
          ...(fields === undefined ? {} : { schema: fields }),
          ...(url === undefined ? {} : { url: url.toWellFormed() }),
        },
        rule: "built-in: only a person answers what a server asks",
        label: labelOf(at),
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return ended("cancel", error.code);
    }
    if (answer === undefined) return ended("cancel", "unanswered");
    if (answer.decision === "deny") return ended("decline");
    if (url !== undefined) return ended("accept");
    const content = contentOf(answer.say, fields);
    if (content === undefined) return ended("cancel", "form");
    ended("accept");
    return { action: "accept", content };
  };
}

/** TRUST: the server's; only an object of properties is a form. */
function schemaIn(text: string): JsonObject | undefined {
  const schema = jsonOf(text);
  return isObject(schema) && isObject(schema["properties"]) ? schema : undefined;
}

/** The signed form, in canonical JSON: flat, with no field that was not asked for and none missing. */
function contentOf(say: string | undefined, schema: JsonObject | undefined): string | undefined {
  const content = jsonOf(say ?? "");
  if (!isObject(content)) return undefined;
  const properties = schema?.["properties"];
  const known = isObject(properties) ? properties : {};
  const required = schema?.["required"];
  const names = Array.isArray(required) ? required.map(String) : [];
  const flat = Object.entries(content).every(([name, value]) =>
    Object.hasOwn(known, name) && isFlat(value)
  );
  const whole = names.every((name) => Object.hasOwn(content, name));
  return flat && whole ? canonicalJson(content) : undefined;
}

function isFlat(value: Json): boolean {
  const list: readonly Json[] = Array.isArray(value) ? value : [];
  return ["string", "number", "boolean"].includes(typeof value) ||
    Array.isArray(value) && list.every((each) => typeof each === "string");
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
