/** Serves wiki pages as resources, read through the gate with the tools of agents. Used by server.ts. @module */
import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { Fault } from "../../../contracts/base/fault.ts";
import type { ServeResult } from "../../../contracts/wire/wire_serve.ts";
import type { CallLife, HostSession } from "./session.ts";

const PREFIX = "wiki://page/";
/** The URI template for hosts. */
export const WIKI_TEMPLATE = `${PREFIX}{name}`;
/** A page's name, which cannot be a path. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,118}[\p{L}\p{N}])?$/u;
/** A line of `wiki_index`: `name [kind] "title" (COLOUR, label) about`. */
const ROW = /^(\S+) \[(\w+)\] ("(?:[^"\\]|\\.)*") \(([^)]*)\) (.*)$/u;
const MAX_PAGES = 500;
const LINES_PER_CALL = 500;
const MAX_LINES = 20_000;

type Ask = (tool: string, args: Record<string, string | number>) => Promise<ServeResult>;

/** Makes the reader of wiki tools in a session. Throws `refused`. */
export function wikiAsk(session: HostSession, next: () => string, life: CallLife): Ask {
  return async (tool, args) => {
    const result = await session.call({ call: next(), tool, args }, life);
    if (result.outcome === "ok") return result;
    throw new Fault("refused", result.error ?? `Cannot read the wiki: ${result.outcome}`);
  };
}

/** The pages that the session may read. */
export async function listPages(ask: Ask): Promise<Resource[]> {
  const { content } = await ask("wiki_index", { limit: MAX_PAGES });
  return content.split("\n").flatMap((line) => {
    const [, name = "", kind = "", title = "", marks = "", about = ""] = ROW.exec(line) ?? [];
    if (!NAME.test(name)) return [];
    return [{
      uri: `${PREFIX}${encodeURIComponent(name)}`,
      name,
      title: String(JSON.parse(title)),
      ...(about === "" ? {} : { description: about }),
      mimeType: "text/markdown",
      _meta: { "remit/kind": kind, "remit/marks": marks },
    }];
  });
}

/** Whether a uri names a page. */
export function isPage(uri: string): boolean {
  return tryPage(uri) !== undefined;
}

/** The page that a uri names; undefined for any other uri. */
function tryPage(uri: string): string | undefined {
  const name = uri.startsWith(PREFIX) ? tryDecode(uri.slice(PREFIX.length)) : undefined;
  return name !== undefined && NAME.test(name) ? name : undefined;
}

/** Reads a whole page. Throws `notFound`. */
export async function readPage(uri: string, ask: Ask): Promise<ReadResourceResult> {
  const name = tryPage(uri);
  if (name === undefined) {
    throw new Fault("notFound", "Cannot read the resource: only wiki://page/NAME is one");
  }
  const texts: string[] = [];
  let last: ServeResult | undefined;
  for (let from = 1; from <= MAX_LINES;) {
    last = await ask("wiki_read", { name, from, lines: LINES_PER_CALL });
    const end = last.content.indexOf("\n");
    const [, to = "0", of = "0"] = / lines \d+-(\d+) of (\d+),/.exec(last.content.slice(0, end)) ??
      [];
    texts.push(last.content.slice(end + 1).replace(/^\d+│ /gmu, ""));
    if (Number(to) < from || Number(to) >= Number(of)) break;
    from = Number(to) + 1;
  }
  return {
    contents: [{
      uri,
      mimeType: "text/markdown",
      text: texts.join("\n"),
      _meta: { "remit/colour": last?.colour ?? "RED", "remit/label": last?.label ?? "internal" },
    }],
  };
}

function tryDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
