/** The plugin `web_read`: a page of the web as Markdown. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { type Hidden, nothingHidden, visibleText } from "./invisible.ts";
import { mainPart } from "./main_part.ts";
import { readPage } from "./page_tree.ts";
import { baseOf } from "./resolve_link.ts";
import { toMarkdown } from "./to_markdown.ts";

/** What this plugin uses of the host. */
export interface WebHost {
  readonly http: {
    fetch(
      args: {
        readonly url: string;
        readonly headers?: Readonly<Record<string, string>>;
        readonly bytes?: number;
      },
    ): Promise<WebAnswer>;
  };
}

/** An answer from the web. */
export interface WebAnswer {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly base64?: string;
  readonly cut: boolean;
  readonly stopped?: { readonly location: string; readonly why: string };
}

/** Arguments of web_read, as tool.yaml describes them. */
interface ReadArgs {
  readonly url: string;
  readonly from?: number;
  readonly limit?: number;
  readonly whole?: boolean;
}

/** Most bytes of an answer that are read: 5 MiB. */
const BYTES = 5 * 1024 * 1024;
/** Most characters of Markdown that are made of a page. */
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
  const { text, unknown } = answer.text === undefined
    ? decodeBody(answer.base64 ?? "", type)
    : { text: answer.text, unknown: undefined };
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
    ...(unknown === undefined
      ? []
      : [`its charset ${unknown} is not known: letters beyond ASCII are lost`]),
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

/** What a body is read as. */
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
  // Never between the halves of a character.
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

// Bytes of an answer as text, by the charset that the answer or the page names.

/** What an answer's body is. */
interface Body {
  readonly text: string;
  /** A charset that is not known: other than plain letters are lost. */
  readonly unknown?: string;
}

/** Windows-1252 where it differs from Latin-1: 0x80 to 0x9f. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
const LATIN = new Set([
  "iso-8859-1",
  "latin1",
  "windows-1252",
  "cp1252",
  "us-ascii",
  "ascii",
  "iso-8859-15",
  "l1",
]);

/** Decodes base64 of a body. */
export function decodeBody(base64: string, contentType: string): Body {
  const bytes = atob(base64);
  if (bytes.startsWith("\xef\xbb\xbf")) return { text: utf8(bytes.slice(3)) };
  if (bytes.startsWith("\xff\xfe")) return { text: utf16(bytes.slice(2), 0) };
  if (bytes.startsWith("\xfe\xff")) return { text: utf16(bytes.slice(2), 1) };
  const named = charsetOf(contentType) ??
    charsetOf(/<meta[^>]{0,500}charset[^>]{0,200}/i.exec(bytes.slice(0, 4_096))?.[0] ?? "");
  if (named === undefined || named === "utf-8" || named === "utf8") return { text: utf8(bytes) };
  if (LATIN.has(named)) return { text: windows(bytes) };
  if (named === "utf-16le" || named === "utf-16") return { text: utf16(bytes, 0) };
  if (named === "utf-16be") return { text: utf16(bytes, 1) };
  return { text: bytes.replace(/[\x80-\xff]+/g, "\ufffd"), unknown: named };
}

/** The charset that a content type or a `<meta>` names, in lower case. */
function charsetOf(text: string): string | undefined {
  return /charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})/i.exec(text)?.[1]?.toLowerCase();
}

function windows(bytes: string): string {
  return bytes.replace(/[\x80-\x9f]/g, (char) => WINDOWS[char.charCodeAt(0) - 0x80] ?? char);
}

function utf16(bytes: string, high: 0 | 1): string {
  const units: string[] = [];
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const [one, other] = [bytes.charCodeAt(at), bytes.charCodeAt(at + 1)];
    units.push(String.fromCharCode(high === 1 ? one * 256 + other : other * 256 + one));
  }
  return units.join("").toWellFormed();
}

/** Runs of bytes past ASCII, each decoded by itself; what is wrong in one becomes a replacement character. */
function utf8(bytes: string): string {
  return bytes.replace(/[\x80-\xff]+/g, (run) => {
    let percent = "";
    for (let at = 0; at < run.length; at += 1) percent += `%${run.charCodeAt(at).toString(16)}`;
    try {
      return decodeURIComponent(percent);
    } catch {
      return run.replace(/[\xc2-\xf4][\x80-\xbf]{1,3}|[\x80-\xff]/g, (part) => {
        try {
          return decodeURIComponent(
            [...part].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(""),
          );
        } catch {
          return "\ufffd";
        }
      });
    }
  });
}
