/** The plugin `web_read`: a web page as Markdown. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { webText } from "../../text/web_text.ts";
import type { Remit, WebAnswer } from "../sdk/mod.ts";
import { type Hidden, nothingHidden, visibleText } from "./invisible.ts";
import { mainPart } from "./main_part.ts";
import { readPage } from "./page_tree.ts";
import { baseOf } from "./resolve_link.ts";
import { toMarkdown } from "./to_markdown.ts";

/** The host functions that this plugin uses. */
export type WebHost = Pick<Remit, "http">;

/** Arguments of web_read, as in tool.yaml. */
interface ReadArgs {
  readonly url: string;
  readonly from?: number;
  readonly limit?: number;
  readonly whole?: boolean;
}

/** Maximum bytes of an answer: 5 MiB. */
const BYTES = 5 * 1024 * 1024;
/** Maximum characters of a page's Markdown. */
const MAX = 2_000_000;
const ACCEPT =
  "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1";

/** The tools, by name. */
export const tools = Object.freeze({ web_read: read });

async function read(args: ReadArgs, remit: WebHost) {
  const answer = await remit.http.fetch({
    url: args.url,
    headers: { accept: ACCEPT },
    bytes: BYTES,
  });
  if (answer.stopped !== undefined) {
    throw new Fault(
      "refused",
      `Cannot read "${args.url}": it leads to "${
        answer.stopped.location.slice(0, 500)
      }", which was not followed ` +
        `(${answer.stopped.why}). Ask for that address itself if it is the right one`,
    );
  }
  const type = answer.headers["content-type"] ?? "";
  const body = answer.text === undefined ? webText(atob(answer.base64 ?? ""), type) : undefined;
  const text = answer.text ?? body?.text ?? "";
  const content = contentOf(kindOf(type, text, args.url), {
    text,
    answer,
    whole: args.whole ?? false,
  });
  const from = Math.min(args.from ?? 0, content.markdown.length);
  const part = pageOf(content.markdown, from, args.limit ?? 20_000);
  const end = from + part.length;
  const notes = [
    ...(answer.cut || content.cut ? ["the page is longer than what is read of it"] : []),
    ...(body?.as === "unknown"
      ? [`its charset ${body.named} is not known: letters beyond ASCII are lost`]
      : []),
  ];
  return {
    url: answer.url,
    status: answer.status,
    title: content.title,
    markdown: part,
    characters: content.markdown.length,
    ...(end < content.markdown.length ? { next: end } : {}),
    hidden: content.hidden,
    ...(notes.length > 0 ? { notes } : {}),
  };
}

/** How a body is read. */
type BodyKind = "html" | "text";

function kindOf(type: string, text: string, url: string): BodyKind {
  const plain = (type.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (plain === "text/html" || plain === "application/xhtml+xml") return "html";
  if (plain === "") {
    if (text.includes("\0")) throw refused(url, "content of no named type");
    return /^\s*</.test(text) ? "html" : "text";
  }
  const known =
    /^(?:text\/[a-z0-9.+-]+|application\/(?:[a-z0-9.+-]+\+)?(?:json|xml|yaml|toml)|application\/(?:x-ndjson|javascript|x-yaml|jsonl))$/;
  if (known.test(plain)) return "text";
  throw refused(url, plain.slice(0, 100));
}

function refused(url: string, what: string): Fault {
  return new Fault(
    "refused",
    `Cannot read "${url}": it is ${what}, and web_read reads HTML, text, Markdown, JSON and XML. ` +
      "http_fetch can get it as it is",
  );
}

interface Content {
  readonly title: string;
  readonly markdown: string;
  readonly hidden: Hidden;
  readonly cut: boolean;
}

function contentOf(
  kind: BodyKind,
  { text, answer, whole }: {
    readonly text: string;
    readonly answer: WebAnswer;
    readonly whole: boolean;
  },
): Content {
  if (kind === "text") {
    const hidden = nothingHidden();
    return {
      title: "",
      markdown: visibleText(text.slice(0, MAX), hidden),
      hidden,
      cut: text.length > MAX,
    };
  }
  const page = readPage(text);
  const part = whole ? { root: page.root, without: new Set<string>() } : mainPart(page.root);
  const { hidden } = page;
  const base = baseOf(answer.url, page.base);
  const markdown = toMarkdown(part.root, { base, hidden, without: part.without, most: MAX });
  return { title: page.title, markdown, hidden, cut: page.cut };
}

/** A part of at most `limit` characters, ended at a line if one ends in its last fifth. */
function pageOf(markdown: string, from: number, limit: number): string {
  if (from + limit >= markdown.length) return markdown.slice(from);
  const part = markdown.slice(from, from + limit);
  const line = part.lastIndexOf("\n");
  const cut = line > limit * 0.8 ? part.slice(0, line + 1) : part;
  // Never splits a surrogate pair.
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
