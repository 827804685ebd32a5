/**
 * `tool_search`: a model is offered few tools and this one, which finds the others. Found tools are
 * offered from the next inference on. The gate knows all tools at any time.
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

/** Number of imported tools above which only `tool_search` is offered; remit.yaml can set another. */
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
export function searches(
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
    // deno-lint-ignore require-await -- a power answers later
    async invoke(call: GrantedCall): Promise<PowerResult> {
      redeem(call);
      const all = processOf(call.pid)?.snapshot?.tools ?? [];
      const imports = searches(all, above);
      const tools = all.filter(({ name, permission }) =>
        name !== NAME && permission !== "forbidden"
      );
      const { query, limit } = askedFor(call.args);
      // Strangers' words colour the answer, so where all imported tools are offered anyway, Remit's own are searched first.
      const own = imports ? [] : rankTools(tools.filter((tool) => !isImported(tool)), query);
      const ranked = own.length > 0 ? own : rankTools(tools, query);
      const found = ranked.slice(0, limit).map(({ tool }) => tool);
      const strangers = found.length === 0 ? tools.filter(isImported) : found.filter(isImported);
      return {
        content: found.length === 0 ? noneOf(tools) : linesOf(found, tools.length),
        // Reviewed, but still strangers' words.
        colour: strangers.length === 0 ? "BLUE" : "RED",
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

/** Scripts without spaces between words. */
const UNSPACED = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/u;
const PIECES =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]+|[^\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]+/gu;

/** A tool and its score; higher is better. */
interface RankedTool {
  readonly tool: ToolDescriptor;
  readonly score: number;
}

/** The terms of one tool, with their weights. */
type Terms = ReadonlyMap<string, number>;

const NAME_WEIGHT = 3;
const PARAMETER = 1.2;
const WORD = 1;
/** Bounds the weight of a repeated word, which counts little more than a single one. */
const MAX_WEIGHT = 5;
/** Factor for a term that only shares its beginning with the query's. */
const ALIKE = 0.5;
const SHORTEST_STEM = 4;
const MAX_TERMS = 64;
/** Words without meaning for the search. */
const EMPTY: ReadonlySet<string> = new Set(
  ("a an and are as at be by for from has have in into is it its of on or that the this to was " +
    "when which will with you your use used using tool tools mcp server not verified can i me my " +
    "need want how do does please find some any all").split(" "),
);

/** Tools that fit `query`, best first, ties by name. */
export function rankTools(
  tools: readonly ToolDescriptor[],
  query: string,
): readonly RankedTool[] {
  const asked = [...new Set(termsIn(query))].slice(0, MAX_TERMS);
  const all = tools.map((tool) => ({ tool, terms: termsOf(tool) }));
  const weights = new Map<string, number>(asked.map((term) => {
    const holding = all.filter(({ terms }) => fit(terms, term) > 0).length;
    return [term, Math.log(1 + (tools.length - holding + 0.5) / (holding + 0.5))];
  }));
  return all.map(({ tool, terms }) => {
    let score = 0, met = 0;
    for (const term of asked) {
      const here = fit(terms, term);
      if (here > 0) met += 1;
      score += here * (weights.get(term) ?? 0);
    }
    // A tool that matches more of the query ranks above one that matches a rare word of it.
    return { tool, score: score * (asked.length === 0 ? 0 : 0.5 + met / asked.length) };
  }).filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
}

function fit(terms: Terms, term: string): number {
  const exact = terms.get(term);
  if (exact !== undefined) return exact;
  if (term.length < SHORTEST_STEM) return 0;
  let best = 0;
  for (const [other, weight] of terms) {
    if (other.length < SHORTEST_STEM) continue;
    if (other.startsWith(term) || term.startsWith(other)) best = Math.max(best, weight * ALIKE);
  }
  return best;
}

const kept = new WeakMap<ToolDescriptor, Terms>();

function termsOf(tool: ToolDescriptor): Terms {
  const before = kept.get(tool);
  if (before !== undefined) return before;
  const terms = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const term of termsIn(text)) {
      terms.set(
        term,
        Math.min(MAX_WEIGHT, (terms.get(term) ?? 0) + weight / (1 + (terms.get(term) ?? 0))),
      );
    }
  };
  add(tool.name, NAME_WEIGHT);
  add(tool.description, WORD);
  for (const name of parametersOf(tool.paramSchema)) add(name, PARAMETER);
  if (Object.isFrozen(tool)) kept.set(tool, terms);
  return terms;
}

function parametersOf(paramSchema: string): readonly string[] {
  try {
    const schema: unknown = JSON.parse(paramSchema);
    if (typeof schema !== "object" || schema === null || !("properties" in schema)) return [];
    return Object.keys(Object(schema.properties));
  } catch {
    // The gate refuses calls of such a tool; the search ignores its parameters.
    return [];
  }
}

/** Lower-case word stems; pairs of characters where a script has no spaces. */
export function termsIn(text: string): readonly string[] {
  const terms: string[] = [];
  const spaced = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  for (const [run] of spaced.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    for (const [piece] of run.matchAll(PIECES)) {
      if (UNSPACED.test(piece)) terms.push(...pairsOf(piece));
      else if (!EMPTY.has(piece)) terms.push(stem(piece));
    }
  }
  return terms;
}

function pairsOf(run: string): readonly string[] {
  const signs = [...run];
  if (signs.length === 1) return signs;
  return signs.slice(1).map((sign, n) => `${signs[n]}${sign}`);
}

function stem(word: string): string {
  if (word.length < 4) return word;
  return word.replace(/ies$/, "y").replace(/(?<!s)s$/, "").replace(/(?<=[a-z]{3})(?:ing|ed)$/, "")
    .replace(/(?<=[a-z]{3})e$/, "");
}
