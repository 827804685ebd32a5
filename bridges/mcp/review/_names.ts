/** Finds look-alike names, copied tools, and mentions of other servers' tools. Used by flags.ts. @module */
import { mcpPart } from "../../../contracts/exchange/mcp.ts";
import type { McpToolWords } from "../../../contracts/exchange/mod.ts";
import { foldText } from "../../../text/fold.ts";
import { outline } from "./tool_identity.ts";

/** A tool whose name another could be taken for. */
interface Namesake {
  readonly name: string;
  /** Its owner, for a sentence: `Remit`, `the server "files"`. */
  readonly of: string;
  /** Its words, if it belongs to another server. */
  readonly words: McpToolWords | undefined;
}

/** Names of the server's and of others' tools, to be looked up. */
export interface KnownTools {
  /** Names of the server and its tools, in lower case. */
  readonly mine: ReadonlySet<string>;
  /** Names of other servers. */
  readonly servers: ReadonlySet<string>;
  /** Names of others' tools, by the name in lower case. */
  readonly tools: ReadonlyMap<string, string>;
  readonly byOutline: ReadonlyMap<string, readonly Namesake[]>;
  /** By a name with one part left out; that part is `part`. */
  readonly byRest: ReadonlyMap<string, readonly (Namesake & { readonly part: string })[]>;
}

interface KnownParts {
  readonly server: string;
  readonly tools: readonly Pick<McpToolWords, "name">[];
  readonly own?: readonly string[];
  readonly others?: readonly { readonly name: string; readonly tools: readonly McpToolWords[] }[];
}

/** Letters of a word in which one changed letter goes unnoticed, at least. */
const MIN_SLIP_WORD = 5;
/** Letters of a name that is searched for in texts, at least. */
const MIN_NAME = 5;
/** Common words that are servers' names, too: taken for a name only within quotes. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  "web mail email file files git database proxy dns application language remote local mcp api http"
    .split(" "),
);

/** Makes the look-up tables for all tools of a server. */
export function knownTools({ server, tools, own = [], others = [] }: KnownParts): KnownTools {
  const all: Namesake[] = [
    ...own.map((name) => ({ name, of: "Remit", words: undefined })),
    ...others.filter(({ name }) => name !== server).flatMap(({ name: whose, tools: theirs }) =>
      theirs.map((words) => ({ name: words.name, of: `the server "${whose}"`, words }))
    ),
  ];
  const rests = all.flatMap((each) => restsOf(each.name).map((rest) => ({ ...each, ...rest })));
  return Object.freeze({
    mine: new Set([server, mcpPart(server), ...tools.map(({ name }) => name.toLowerCase())]),
    servers: new Set(others.flatMap(({ name }) => name === server ? [] : [name, mcpPart(name)])),
    tools: new Map(all.map(({ name }) => [name.toLowerCase(), name])),
    byOutline: Map.groupBy(all, ({ name }) => outline(name)),
    byRest: Map.groupBy(rests, ({ rest }) => rest),
  });
}

/** The first tool of another owner whose name `tool` has (`same`) or could be taken for. */
export function namesakeOf(
  tool: string,
  { byOutline, byRest }: KnownTools,
): Namesake & { readonly same: boolean } | undefined {
  const alike = [
    ...byOutline.get(outline(foldText(tool).text)) ?? [],
    ...restsOf(tool).flatMap(({ rest, part }) =>
      (byRest.get(rest) ?? []).filter((other) => isSlip(part, other.part))
    ),
  ];
  // Two servers may use one name: each tool's name for models begins with its server's.
  const found = alike.find(({ name, words }) => name !== tool || words === undefined);
  return found === undefined ? undefined : { ...found, same: found.name === tool };
}

/** Another server's tool that this one copies: the same name and nearly the same words. */
export function copiedBy(words: McpToolWords, { byOutline }: KnownTools): string | undefined {
  const mine = wordsOf(words.description ?? "");
  if (mine.size < 4) return undefined;
  for (const { name, of, words: other } of byOutline.get(outline(words.name)) ?? []) {
    const theirs = wordsOf(other?.description ?? "");
    const both = [...mine].filter((each) => theirs.has(each)).length;
    if (both >= 0.8 * Math.max(mine.size, theirs.size)) return `"${name}" of ${of}`;
  }
  return undefined;
}

/** Another server, or another owner's tool, that a text names. */
export function foreignIn(text: string, { mine, servers, tools }: KnownTools): string | undefined {
  const lower = text.toLowerCase();
  for (const [name, server = ""] of lower.matchAll(/\bmcp__?([a-z0-9]+)__?[a-z0-9_]+/g)) {
    if (!mine.has(server) && (name.startsWith("mcp__") || servers.has(server))) return name;
  }
  const isForeign = (name: string): boolean =>
    name.length >= MIN_NAME && tools.has(name) && !mine.has(name);
  for (const [token] of lower.matchAll(/(?<![a-z0-9_-])[a-z0-9][a-z0-9_-]*[a-z0-9]/g)) {
    // A name of a single word is an ordinary word, unless it is set off as a name.
    if (isForeign(token) && isCompound(tools.get(token) ?? "")) return tools.get(token);
  }
  for (const [, token = ""] of lower.matchAll(/`([^`\s]{1,64})`/g)) {
    if (isForeign(token)) return tools.get(token);
  }
  for (const [, quote = "", name = ""] of lower.matchAll(SERVER)) {
    if (servers.has(name) && !mine.has(name) && (quote !== "" || !COMMON_WORDS.has(name))) {
      return name;
    }
  }
  return undefined;
}

const SERVER = /(["'`]?)\b([a-z][a-z0-9_-]{0,23})["'`]? (?:server|mcp|integration)\b/g;

function isCompound(name: string): boolean {
  return /[A-Za-z0-9][_-][A-Za-z0-9]|[a-z0-9][A-Z]/.test(name);
}

/** Whether two long words differ by one changed, added, removed or moved letter; a plural does not count. */
function isSlip(a: string, b: string): boolean {
  if (a === b || Math.min(a.length, b.length) < MIN_SLIP_WORD) return false;
  if (Math.abs(a.length - b.length) > 1 || /\d/.test(a + b)) return false;
  if (`${a}s` === b || `${b}s` === a) return false;
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - from && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(from, a.length - end), b.slice(from, b.length - end)];
  return left.length <= 1 && right.length <= 1 ||
    (left.length === 2 && left[0] === right[1] && left[1] === right[0]);
}

/** A name's parts, with each part left out in turn. */
function restsOf(name: string): readonly { readonly rest: string; readonly part: string }[] {
  const parts = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase()
    .split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "").slice(0, 16);
  return parts.map((part, n) => ({ rest: parts.with(n, "*").join("_"), part }));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
}
