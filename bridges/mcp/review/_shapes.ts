/**
 * Finds shapes that no description needs: terminal codes, blobs, tags, links that leak data. Used
 * by flags.ts.
 * @module
 */
import type { FlagKind } from "./flag.ts";
import { isList, isObject } from "../../../contracts/base/json.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { McpToolWords } from "../../../contracts/exchange/mod.ts";

interface FoundShape {
  readonly what: FlagKind;
  readonly words: string;
  readonly part: string;
}

const MIN_BLOB = 200;
const MIN_DECODED_BLOB = 24;
/** Consecutive escapes; every form is matched in linear time. */
const ESCAPES =
  /(?:\\x[0-9a-f]{2}){6}|(?:\\u\{?[0-9a-f]{4}\}?){6}|(?:&#x?[0-9a-f]{2,4};){6}|(?:%[0-9a-f]{2}){8}/i;
const SPACED = /(?<![a-z0-9])(?:[a-z][ ._*-]){9}[a-z](?![a-z0-9])/i;
/** Tags that set off instructions, comments, or load something. */
const TAG =
  /<\/?(?:important|system|instructions?|secret|hidden|critical|assistant|user|human|admin|override|prompt|rules?|tool_call|function_calls|tool_response|thinking|script|iframe|img|object|embed|svg|style|link|meta|form)\b[^<>]{0,200}>|<!--|<\|[a-z_]{2,24}\|>|\[\/?INST\]|<<\/?SYS>>|\[(?:system|important|hidden|admin)\]|(?<!#)#{2,} ?(?:system|instructions?|important)\b/i;
// deno-lint-ignore no-control-regex -- these are what is looked for
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
/** A speaker's name, as in a transcript. */
const SPEAKER =
  /(?:^|[\n.!?]\s{0,4})(?:SYSTEM|ASSISTANT|HUMAN|OVERRIDE|ADMIN|DEVELOPER|ROOT)(?: MESSAGE| PROMPT| NOTE)?:/;
const COMMAND =
  /\b(?:curl|wget)\b[^\n]{0,80}https?:|[|;&]\s*(?:ba|z)?sh\b|\brm -rf\b|\$\((?:curl|wget|cat|env|printenv)\b|\bbase64 -d\b|\bchmod \+x\b|\bnc -[a-z]*e\b/i;
const IMAGE = /!\[[^\]\n]{0,200}\]\(\s*(?:https?:|data:|\/\/)/i;
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`)\]}]{1,2048}/gi;
/** Services that show their user every request sent to them. */
const REQUEST_CATCHERS =
  /(?:^|\.)(?:webhook\.site|ngrok(?:-free)?\.(?:io|app|dev)|pipedream\.net|requestbin\.(?:com|net)|requestcatcher\.com|burpcollaborator\.net|oastify\.com|oast\.(?:fun|live|me|online|pro|site)|interact\.sh|beeceptor\.com|hookbin\.com|dnslog\.cn|trycloudflare\.com|serveo\.net|localtunnel\.me|loca\.lt)$/i;
const SENDS =
  /\b(?:send|post|upload|forward|exfiltrate|transmit|report|submit|copy|deliver)\b[^.\n]{0,120}$/i;
const MAIL = /\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}\b/g;
const EXAMPLE = /(?:^|\.)(?:example|test|invalid|localhost)(?:\.(?:com|org|net))?$/i;

/** At most one shape of each kind, in linear time. */
export function shapesIn(text: string): readonly FoundShape[] {
  const found: FoundShape[] = [];
  const add = (what: FlagKind, words: string, part: string | undefined): void => {
    if (part === undefined || found.some((each) => each.what === what)) return;
    found.push({ what, words, part: part.slice(0, 120) });
  };
  const code = text.search(CONTROL);
  if (code >= 0) add("escape", "codes that a terminal obeys", text.slice(code, code + 40));
  add("blob", "escapes in place of letters", ESCAPES.exec(text)?.[0]);
  add("blob", "a block of encoded characters", blobIn(text));
  add("blob", "words taken apart into letters", SPACED.exec(text)?.[0]);
  add("command", "a command for a shell", COMMAND.exec(text)?.[0]);
  add("markup", "a line in another's name", SPEAKER.exec(text)?.[0]);
  add("markup", "a tag that sets words off", TAG.exec(text)?.[0]);
  add("link", "an image that is loaded when it is shown", IMAGE.exec(text)?.[0]);
  add("link", "an address that carries data away", leakingAddress(text));
  add("long", "an empty stretch that hides what follows", /[^\S\n]{80}|\n\s{40}/.exec(text)?.[0]);
  return found;
}

/** A long run of base64, or a short one that decodes to words. */
function blobIn(text: string): string | undefined {
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{24,}={0,2}/g)) {
    const mixed = /[a-z]/.test(run) && /[A-Z]/.test(run) && /[0-9+/=]/.test(run);
    if (mixed && run.length >= MIN_BLOB) return run;
    if (run.length >= MIN_DECODED_BLOB && readsAsWords(run.slice(0, 400))) return run;
  }
  return undefined;
}

function readsAsWords(run: string): boolean {
  let text: string;
  try {
    text = atob(
      run.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/").slice(0, run.length & ~3),
    );
  } catch (error) {
    // The run is no base64.
    if (error instanceof DOMException) return false;
    throw error;
  }
  return /^[\x20-\x7e\n]{12,}$/.test(text) && / /.test(text);
}

function leakingAddress(text: string): string | undefined {
  for (const match of text.matchAll(ADDRESS)) {
    const [address] = match;
    const host = /^https?:\/\/([^/?#]*)/i.exec(address)?.[1] ?? "";
    const name = host.replace(/^.*@/, "").replace(/:\d*$/, "");
    const isOdd = host.includes("@") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name) && !isNear(name) ||
      /(?:^|\.)xn--/i.test(name) || REQUEST_CATCHERS.test(name);
    const carries =
      /[?&/][\w-]{0,40}=?(?:\$?\{|%7B|<|\[)(?:data|content|secret|key|token|env|history|conversation|password|file|result|text)/i
        .test(address);
    const sent = SENDS.test(text.slice(Math.max(0, match.index - 140), match.index)) &&
      !EXAMPLE.test(name);
    if (isOdd || carries || sent) return address;
  }
  for (const match of text.matchAll(MAIL)) {
    const host = match[0].slice(match[0].indexOf("@") + 1);
    if (EXAMPLE.test(host)) continue;
    if (SENDS.test(text.slice(Math.max(0, match.index - 140), match.index))) return match[0];
  }
  return undefined;
}

/** Addresses of this machine, which appear in examples. */
function isNear(host: string): boolean {
  return host.startsWith("127.") || host === "0.0.0.0";
}

/** One text of a tool. */
export interface ToolText {
  /** For a reviewer, such as `description` or `parameter "edits[].text"`. */
  readonly where: string;
  readonly text: string;
  /** Whether it is a parameter's name or another text. */
  readonly kind: "name" | "words";
}

/** Texts of a tool, at most: a schema may hold thousands. */
const MAX_TEXTS = 3_000;
const MAX_DEPTH = 64;

/** All texts of a tool except its name. */
export function textsOf(words: McpToolWords): readonly ToolText[] {
  const all: ToolText[] = [];
  const add = (where: string, text: string | undefined, kind: ToolText["kind"] = "words"): void => {
    if (text !== undefined && text !== "" && all.length < MAX_TEXTS) {
      all.push({ where, text, kind });
    }
  };
  add("description", words.description);
  add("title", words.title);
  add("title", words.annotations?.title);
  const walk = (value: Json, path: string, what: "parameter" | "result", depth: number): void => {
    if (depth > MAX_DEPTH || all.length >= MAX_TEXTS) return;
    const where = path === "" ? `${what}s` : `${what} "${path}"`;
    if (typeof value === "string") return add(where, value);
    if (isList(value)) {
      for (const each of value) walk(each, path, what, depth + 1);
    } else if (isObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        if ((key === "properties" || key === "patternProperties") && isObject(each)) {
          for (const [name, schema] of Object.entries(each)) {
            const inner = path === "" ? name : `${path}.${name}`;
            add(`${what} "${inner}"`, name, "name");
            walk(schema, inner, what, depth + 1);
          }
        } else if (key === "required" && isList(each)) {
          for (const name of each) {
            if (typeof name === "string") {
              add(`${what} "${path === "" ? name : `${path}.${name}`}"`, name, "name");
            }
          }
        } else if (key === "items") walk(each, `${path}[]`, what, depth + 1);
        else if (!UNSHOWN_KEYWORDS.has(key)) walk(each, path, what, depth + 1);
      }
    }
  };
  walk(words.inputSchema, "", "parameter", 0);
  if (words.outputSchema !== undefined) walk(words.outputSchema, "", "result", 0);
  return all;
}

/** Keywords whose texts reach no model. */
const UNSHOWN_KEYWORDS: ReadonlySet<string> = new Set(["$schema", "$ref", "$id"]);
