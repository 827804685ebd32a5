/** Names that pass for others, and words about tools that are not the server's own. @module */
import { mcpPart } from "../../../contracts/exchange/mcp.ts";
import type { McpToolWords } from "../../../contracts/exchange/mod.ts";
import { foldText } from "../../../text/fold.ts";
import { outline } from "./tool_identity.ts";

/** A name that a tool's name could be taken for. */
interface Namesake {
  readonly name: string;
  /** Whose tool it is, for a sentence: `Remit`, `the server "files"`. */
  readonly of: string;
  /** Its words, where it is another server's. */
  readonly words: McpToolWords | undefined;
}

/** Whatever is not the server's own, to be looked up by name. */
export interface KnownTools {
  /** Names of the server and of its tools, in small letters. */
  readonly mine: ReadonlySet<string>;
  /** Names of other servers. */
  readonly servers: ReadonlySet<string>;
  /** Names of others' tools by their small letters. */
  readonly tools: ReadonlyMap<string, string>;
  readonly byOutline: ReadonlyMap<string, readonly Namesake[]>;
  /** By all parts of a name but one; the one is `part`. */
  readonly byRest: ReadonlyMap<string, readonly (Namesake & { readonly part: string })[]>;
}

interface KnownParts {
  readonly server: string;
  readonly tools: readonly Pick<McpToolWords, "name">[];
  readonly own?: readonly string[];
  readonly others?: readonly { readonly name: string; readonly tools: readonly McpToolWords[] }[];
}

/** Shortest word in which one changed letter is a slip of the eye, not another word. */
const LONG_WORD = 5;
/** Shortest name that is looked for in texts. */
const LONG_NAME = 5;
/** Names of servers that are kinds of servers, too: taken for a name only within quotes. */
const KINDS: ReadonlySet<string> = new Set(
  "web mail email file files git database proxy dns application language remote local mcp api http"
    .split(" "),
);

/** Makes the tables, once for all tools of a server. */
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

/** The first name of another's tool that `tool` has or could be taken for, and which of both. */
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
  // One name on two servers is usual: each has its server's name before it.
  const found = alike.find(({ name, words }) => name !== tool || words === undefined);
  return found === undefined ? undefined : { ...found, same: found.name === tool };
}

/** The tool of another server that this one copies: the same name and nearly the same words. */
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

/** Another server, or a tool of somebody else's, that a text names. */
export function foreignIn(text: string, { mine, servers, tools }: KnownTools): string | undefined {
  const small = text.toLowerCase();
  for (const [name, server = ""] of small.matchAll(/\bmcp__?([a-z0-9]+)__?[a-z0-9_]+/g)) {
    if (!mine.has(server) && (name.startsWith("mcp__") || servers.has(server))) return name;
  }
  const isForeign = (name: string): boolean =>
    name.length >= LONG_NAME && tools.has(name) && !mine.has(name);
  for (const [token] of small.matchAll(/(?<![a-z0-9_-])[a-z0-9][a-z0-9_-]*[a-z0-9]/g)) {
    // A name of one word is a word of the language, unless it is set off as a name.
    if (isForeign(token) && isCompound(tools.get(token) ?? "")) return tools.get(token);
  }
  for (const [, token = ""] of small.matchAll(/`([^`\s]{1,64})`/g)) {
    if (isForeign(token)) return tools.get(token);
  }
  for (const [, quote = "", name = ""] of small.matchAll(SERVER)) {
    if (servers.has(name) && !mine.has(name) && (quote !== "" || !KINDS.has(name))) return name;
  }
  return undefined;
}

const SERVER = /(["'`]?)\b([a-z][a-z0-9_-]{0,23})["'`]? (?:server|mcp|integration)\b/g;

function isCompound(name: string): boolean {
  return /[A-Za-z0-9][_-][A-Za-z0-9]|[a-z0-9][A-Z]/.test(name);
}

/** One letter changed, added, left out or moved, in a long word; a plural is none. */
function isSlip(a: string, b: string): boolean {
  if (a === b || Math.min(a.length, b.length) < LONG_WORD) return false;
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

/** The parts of a name with each of them left out in turn. */
function restsOf(name: string): readonly { readonly rest: string; readonly part: string }[] {
  const parts = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase()
    .split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "").slice(0, 16);
  return parts.map((part, n) => ({ rest: parts.with(n, "*").join("_"), part }));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
}
