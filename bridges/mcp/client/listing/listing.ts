/**
 * Reads a server's listing: all pages of all lists within limits; omissions are noted. Used by
 * connect.ts and server_ops.ts.
 * @module
 */
import { isObject, type JsonObject, present } from "../../../../contracts/base/json.ts";
import type {
  McpPromptWords,
  McpResourceWords,
  McpToolWords,
  ServerListing,
} from "../../../../contracts/exchange/mcp.ts";
import { cutText, MAX_LISTING_NODES, MAX_LISTING_UNITS, MAX_PAGES, quoted } from "../limits.ts";
import { fieldsOf, Malformed } from "./fields.ts";

interface Lister {
  /** Requests one page. Throws what the SDK throws. */
  page(method: string, cursor: string | undefined): Promise<JsonObject>;
}

/** What the handshake tells about a server. */
export type Introduction = Pick<
  ServerListing,
  "protocol" | "server" | "instructions" | "capabilities"
>;

/** How one list is requested, bounded and read. */
interface List<T> {
  readonly method: string;
  readonly member: string;
  readonly max: number;
  readonly what: string;
  readonly read: (item: JsonObject) => T;
}

const LISTS = {
  tools: { ...{ method: "tools/list", member: "tools", max: 512, what: "tool" }, read: readTool },
  resources: {
    ...{ method: "resources/list", member: "resources", max: 512, what: "resource" },
    read: readResource,
  },
  templates: {
    ...{ method: "resources/templates/list", member: "resourceTemplates", max: 256 },
    ...{ what: "template", read: readTemplate },
  },
  prompts: {
    ...{ method: "prompts/list", member: "prompts", max: 256, what: "prompt" },
    read: readPrompt,
  },
} as const;

const MAX_NOTES = 64;
const MAX_NOTE_UNITS = 512;
const MAX_CURSOR_UNITS = 8_192;

/** The room that is left, and notes about what was left out. */
interface Budget {
  units: number;
  nodes: number;
  readonly notes: string[];
}

/** Reads every list that the server has. A list that fails is left out, with a note. */
export async function readListing(lister: Lister, about: Introduction): Promise<ServerListing> {
  const left: Budget = { units: MAX_LISTING_UNITS, nodes: MAX_LISTING_NODES, notes: [] };
  const list = <T>(capability: string, what: List<T>): Promise<T[]> =>
    about.capabilities.includes(capability) ? readList(lister, what, left) : Promise.resolve([]);
  return {
    ...about,
    tools: await list("tools", LISTS.tools),
    resources: await list("resources", LISTS.resources),
    templates: await list("resources", LISTS.templates),
    prompts: await list("prompts", LISTS.prompts),
    left: left.notes,
  };
}

async function readList<T>(lister: Lister, list: List<T>, left: Budget): Promise<T[]> {
  const { method, member, max, what } = list;
  const items: T[] = [];
  const seen = new Set<string>();
  const note = (sentence: string): void => {
    if (left.notes.length < MAX_NOTES) left.notes.push(cutText(sentence, MAX_NOTE_UNITS));
  };
  for (let cursor: string | undefined, pages = 0;; pages++) {
    if (pages >= MAX_PAGES) {
      note(`More than ${MAX_PAGES} pages of ${what}s: the others were not asked for`);
      return items;
    }
    let page: JsonObject;
    try {
      page = await lister.page(method, cursor);
    } catch (error) {
      note(`No more ${what}s: ${error instanceof Error ? error.message : "it failed"}`);
      return items;
    }
    const given = page[member];
    if (!Array.isArray(given)) note(`A page of ${what}s holds no list`);
    for (const item of Array.isArray(given) ? given : []) {
      if (items.length >= max) {
        note(`More than ${max} ${what}s: the others were left out`);
        return items;
      }
      const read = readItem(list, item, left);
      if (typeof read === "string") note(read);
      else items.push(read.item);
    }
    const next = page["nextCursor"];
    if (next === undefined || next === null) return items;
    if (typeof next !== "string" || next.length > MAX_CURSOR_UNITS || seen.has(next)) {
      note(`Pages of ${what}s go round in a circle`);
      return items;
    }
    seen.add(next);
    cursor = next;
  }
}

function readItem<T>(
  { what, read }: List<T>,
  item: JsonObject[string],
  left: Budget,
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

const MAX_SCHEMA_UNITS = 65_536;

function schemaOf(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  if (schema !== undefined && JSON.stringify(schema).length > MAX_SCHEMA_UNITS) {
    throw new Malformed(`${name} is longer than ${MAX_SCHEMA_UNITS} characters`);
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
