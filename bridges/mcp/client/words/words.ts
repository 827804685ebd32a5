/** Everything that a server says of itself: all pages of all lists, bounded; what is left out is named. @module */
import { isObject, type JsonObject } from "../../../../contracts/base/json.ts";
import type {
  McpPromptWords,
  McpResourceWords,
  McpToolWords,
  ServerListing,
} from "../../../../contracts/exchange/mcp.ts";
import { cutText, PAGES, quoted, WORDS_NODES, WORDS_UNITS } from "../limits.ts";
import { fieldsOf, Malformed, present } from "./fields.ts";

interface Lister {
  /** One page. Throws what the SDK throws. */
  page(method: string, cursor: string | undefined): Promise<JsonObject>;
}

/** What of a server is known since the handshake. */
export type Introduction = Pick<
  ServerListing,
  "protocol" | "server" | "instructions" | "capabilities"
>;

/** One list: how it is asked for, how many of it there may be, how an item is read. */
interface List<T> {
  readonly method: string;
  readonly member: string;
  readonly most: number;
  readonly what: string;
  readonly read: (item: JsonObject) => T;
}

const LISTS = {
  tools: { ...{ method: "tools/list", member: "tools", most: 512, what: "tool" }, read: readTool },
  resources: {
    ...{ method: "resources/list", member: "resources", most: 512, what: "resource" },
    read: readResource,
  },
  templates: {
    ...{ method: "resources/templates/list", member: "resourceTemplates", most: 256 },
    ...{ what: "template", read: readTemplate },
  },
  prompts: {
    ...{ method: "prompts/list", member: "prompts", most: 256, what: "prompt" },
    read: readPrompt,
  },
} as const;

const SENTENCES = 64;
const SENTENCE_UNITS = 512;
const CURSOR_UNITS = 8_192;

interface Left {
  units: number;
  nodes: number;
  readonly said: string[];
}

/** Asks for all lists that the server has. A list that fails is left out, with the reason. */
export async function readWords(lister: Lister, about: Introduction): Promise<ServerListing> {
  const left: Left = { units: WORDS_UNITS, nodes: WORDS_NODES, said: [] };
  const list = <T>(capability: string, what: List<T>): Promise<T[]> =>
    about.capabilities.includes(capability) ? readList(lister, what, left) : Promise.resolve([]);
  return {
    ...about,
    tools: await list("tools", LISTS.tools),
    resources: await list("resources", LISTS.resources),
    templates: await list("resources", LISTS.templates),
    prompts: await list("prompts", LISTS.prompts),
    left: left.said,
  };
}

async function readList<T>(lister: Lister, list: List<T>, left: Left): Promise<T[]> {
  const { method, member, most, what } = list;
  const items: T[] = [];
  const seen = new Set<string>();
  const say = (sentence: string): void => {
    if (left.said.length < SENTENCES) left.said.push(cutText(sentence, SENTENCE_UNITS));
  };
  for (let cursor: string | undefined, pages = 0;; pages++) {
    if (pages >= PAGES) {
      say(`More than ${PAGES} pages of ${what}s: the others were not asked for`);
      return items;
    }
    let page: JsonObject;
    try {
      page = await lister.page(method, cursor);
    } catch (error) {
      say(`No more ${what}s: ${error instanceof Error ? error.message : "it failed"}`);
      return items;
    }
    const given = page[member];
    if (!Array.isArray(given)) say(`A page of ${what}s holds no list`);
    for (const item of Array.isArray(given) ? given : []) {
      if (items.length >= most) {
        say(`More than ${most} ${what}s: the others were left out`);
        return items;
      }
      const read = readItem(list, item, left);
      if (typeof read === "string") say(read);
      else items.push(read.item);
    }
    const next = page["nextCursor"];
    if (next === undefined || next === null) return items;
    if (typeof next !== "string" || next.length > CURSOR_UNITS || seen.has(next)) {
      say(`Pages of ${what}s go round in a circle`);
      return items;
    }
    seen.add(next);
    cursor = next;
  }
}

function readItem<T>(
  { what, read }: List<T>,
  item: JsonObject[string],
  left: Left,
): { readonly item: T } | string {
  if (!isObject(item)) return `A ${what} is no object`;
  const name = `The ${what} ${quoted(item["name"])}`;
  try {
    const taken = read(item);
    const units = JSON.stringify(taken).length, nodes = count(taken);
    if (units > left.units || nodes > left.nodes) return `${name}: no room for it`;
    left.units -= units;
    left.nodes -= nodes;
    return { item: taken };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return `${name}: ${error.message}`;
  }
}

function count(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, item) => sum + count(item), 1);
}

// Items of the lists, with the bounds of contracts/exchange/mcp.ts.

const SCHEMA_UNITS = 65_536;

function schemaOf(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  if (schema !== undefined && JSON.stringify(schema).length > SCHEMA_UNITS) {
    throw new Malformed(`${name} is longer than ${SCHEMA_UNITS} characters`);
  }
  return schema;
}

function readTool(item: JsonObject): McpToolWords {
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

function readResource(item: JsonObject): McpResourceWords {
  return { uri: fieldsOf(item).needed("uri", 4_096), ...readNamed(item) };
}

function readTemplate(item: JsonObject): McpResourceWords {
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

function readPrompt(item: JsonObject): McpPromptWords {
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
