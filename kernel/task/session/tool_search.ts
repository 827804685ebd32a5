/**
 * `tool_search`: a model is offered few tools and this one, which finds the others. Found tools are
 * offered from the next inference on. The gate knows all tools at any time. Bound in task_tools.ts; the
 * found tools are offered by offered_tools.ts.
 * @module
 */
import { isImported, type ToolDescriptor } from "../../../contracts/tool/tool.ts";
import { ownTool } from "../../core/process/own_tool.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import { type Pid } from "../../../contracts/authority/ids.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../../contracts/task/power.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import { rankTools } from "./rank_tools.ts";

/**
 * Number of imported tools above which imported tools are offered only once found; remit.yaml can set another. Remit's
 * own rarely used tools may wait for a search at any number (offered_tools.ts).
 */
const SEARCH_ABOVE = 30;

const NAME = "tool_search";
const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 20;
const MAX_QUERY = 500;
/** Characters of a description in an answer: the model is offered all of it with the tool. */
const MAX_DESCRIPTION = 240;
/** Servers named in an answer without tools. */
const MAX_SERVERS = 64;

/** The descriptor of `tool_search`. */
export const TOOL_SEARCH: ToolDescriptor = ownTool({
  name: NAME,
  description:
    "Finds more tools, which you can call from your next step on: web pages, HTTP, a browser, " +
    "programs in a sandbox, JSON, text, patches, deleting files, publishing results, agents that work for you, " +
    "work that agents share, tools of imported servers. " +
    'Say in a few words what you want to do. Example: {"query":"read a web page"}',
  interfaceId: "ToolSearch",
  methodName: "search",
  properties: {
    query: {
      type: "string",
      minLength: 1,
      maxLength: MAX_QUERY,
      description: "What the tool should do, or a part of its name.",
    },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `Most tools to name; ${DEFAULT_LIMIT} when absent.`,
    },
  },
  required: ["query"],
});

/** Tells whether more than `above` tools are imported, so that they are found by search. */
export function hidesImported(
  tools: readonly Pick<ToolDescriptor, "interfaceId">[],
  above: number = SEARCH_ABOVE,
): boolean {
  return tools.filter(isImported).length > above;
}

interface ToolSearchParts {
  /** Number of imported tools above which these are found by search. */
  readonly above?: number | undefined;
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
  processOf(pid: Pid): Pick<ProcessRow, "snapshot"> | undefined;
}

/** The binding of `tool_search`, which names only tools advertised to its caller. */
export function toolSearchBinding({ redeem, processOf, above }: ToolSearchParts): ToolBinding {
  return Object.freeze<ToolBinding>({
    descriptor: TOOL_SEARCH,
    effect: "read",
    deadlineMs: 5_000,
    resultBytes: 32_768,
    resolve: (): Resolved => ({
      scopes: [{ resource: "plugin", right: "use", path: NAME }],
      effect: "read",
      digests: {},
      summary: "look for tools",
      idempotent: true,
    }),
    // deno-lint-ignore require-await -- the interface is asynchronous
    async invoke(call: GrantedCall): Promise<PowerResult> {
      redeem(call);
      const all = processOf(call.pid)?.snapshot?.tools ?? [];
      const imports = hidesImported(all, above);
      const tools = all.filter(({ name, permission }) =>
        name !== NAME && permission !== "forbidden"
      );
      const { query, limit } = askedFor(call.args);
      // An imported tool's description turns the answer RED. If imported tools are offered anyway, Remit's own
      // are searched first, and all tools only when none of Remit's own fits.
      const own = imports ? [] : rankTools(tools.filter((tool) => !isImported(tool)), query);
      const ranked = own.length > 0 ? own : rankTools(tools, query);
      const found = ranked.slice(0, limit).map(({ tool }) => tool);
      const imported = found.length === 0 ? tools.filter(isImported) : found.filter(isImported);
      return {
        content: found.length === 0 ? noneOf(tools) : linesOf(found, tools.length),
        // A person reviewed the descriptions, but third parties wrote them.
        colour: imported.length === 0 ? "BLUE" : "RED",
        label: "public",
        sources: serversOf(found.filter(isImported)).slice(0, 20).map((server) => ({
          source: `tools of the imported server ${server}`,
          colour: "RED",
          label: "public",
        })),
        value: found.map(({ name }) => name),
      };
    },
  });
}

/** The tools that a conversation found or called. */
interface FoundTools {
  /** Takes added messages in. */
  look(messages: readonly ChatMessage[]): void;
  names(): ReadonlySet<string>;
}

/**
 * Collects the tools that a conversation found. The set only grows, so that making room removes no
 * tool. Unknown names do no harm: only tools of the snapshot are offered.
 */
export function makeFoundTools(messages: readonly ChatMessage[]): FoundTools {
  const found = new Set<string>();
  const look: FoundTools["look"] = (more) => {
    for (const { role, toolName, content, toolCalls = [] } of more) {
      for (const { name } of toolCalls) found.add(name);
      if (role !== "tool" || toolName !== NAME) continue;
      // INVARIANT: each name begins a line, and descriptions are single lines (test: "… one line").
      for (const [name] of content.matchAll(/^[a-z][a-z0-9_]{0,63}(?= \()/gm)) found.add(name);
    }
  };
  look(messages);
  return Object.freeze({ look, names: () => found });
}

function askedFor(
  { query, limit }: JsonObject,
): { readonly query: string; readonly limit: number } {
  return {
    query: typeof query === "string" ? query : "",
    limit: typeof limit === "number" ? limit : DEFAULT_LIMIT,
  };
}

function linesOf(found: readonly ToolDescriptor[], of: number): string {
  const lines = found.map(({ name, category, description }) =>
    `${name} (${category}): ${oneLine(description)}`
  );
  return [`${found.length} of ${of} tools. You can call them now:`, ...lines].join("\n");
}

function noneOf(tools: readonly ToolDescriptor[]): string {
  const counts = new Map<string, number>();
  for (const server of tools.filter(isImported).map(serverOf)) {
    counts.set(server, (counts.get(server) ?? 0) + 1);
  }
  const servers = [...counts].slice(0, MAX_SERVERS).map(([server, count]) =>
    `${server} (${count})`
  );
  return `None of the ${tools.length} tools fits; say it in other words.` +
    (servers.length === 0 ? "" : ` Servers: ${servers.join(", ")}.`);
}

function oneLine(description: string): string {
  const line = description.replace(/\s+/g, " ").trim();
  return line.length <= MAX_DESCRIPTION
    ? line
    : `${line.slice(0, MAX_DESCRIPTION).toWellFormed()} […]`;
}

function serversOf(tools: readonly ToolDescriptor[]): readonly string[] {
  return [...new Set(tools.map(serverOf))];
}

function serverOf({ interfaceId }: ToolDescriptor): string {
  return interfaceId.slice(interfaceId.indexOf(":") + 1);
}
