/** One entry of an imported server's log as a sentence: what it did or tried, readable at a glance. @module */
import type { JsonObject } from "../../contracts/mod.ts";

/** What each permission lets do: as done, and as tried. */
const DEEDS: Readonly<Record<string, readonly [did: string, tried: string]>> = {
  read: ["read", "read"],
  write: ["wrote", "write"],
  net: ["reached", "reach"],
  env: ["looked at the variable", "look at the variable"],
  run: ["started a program", "start a program"],
  ffi: ["loaded native code", "load native code"],
  sys: ["asked the machine for", "ask the machine for"],
  import: ["fetched code from", "fetch code from"],
};

/**
 * Says an entry in words. `content` is its private part, undefined once it was erased. What the server said stands in
 * the sentence as it is: untrusted, for whoever shows it to make safe.
 */
export function mcpLogWords(what: string, body: JsonObject, content: JsonObject = {}): string {
  const text = said(content["text"]), tool = said(content["tool"]) || "a tool";
  switch (what) {
    case "access":
      return access(body, said(content["value"]));
    case "proxied":
      return proxied(body, said(content["host"]) || "a host", text);
    case "started":
      return after(`ready in ${said(body["ms"])} ms`, text);
    case "suspended":
      return said(body["why"]) === "missing"
        ? `${tool} is no longer offered: suspended`
        : `${tool} changed since it was reviewed: suspended`;
    case "changed": {
      const added = Number(body["added"] ?? 0);
      if (added === 0) return `says that its ${text || "words"} changed`;
      return `offers ${added} ${added === 1 ? "tool" : "tools"} that nobody approved`;
    }
    case "elicit":
      return after(`asked the person${outcome(body, "action")}`, text);
    case "sample":
      return after(
        body["ok"] === true
          ? `used ${said(body["tokens"])} tokens of the model`
          : `asked for the model${outcome(body, "failed")}`,
        text,
      );
    case "odd":
      return text === ""
        ? `${said(body["dropped"])} more events were left out`
        : after("broke the protocol", text);
    case "errors":
      return after("printed", text);
    case "call":
      if (body["failed"] === "refused") {
        return `failed where its walls refused it, in a call of ${text}`;
      }
      return body["failed"] === "timedOut"
        ? `did not answer a call of ${text} in time`
        : `a call of ${text} failed (${said(body["failed"])})`;
    case "ended":
      // Why it ended was written as a fault's message.
      return text.replace(/^Cannot [^:]*: /, "");
    default:
      return text;
  }
}

function access(body: JsonObject, value: string): string {
  const [did, tried] = DEEDS[said(body["permission"])] ?? ["used", "use"];
  const often = timesOf(body);
  const named = value === "" ? "" : ` ${value}`;
  return body["allowed"] === true
    ? `${did}${named}${often}`
    : `tried to ${tried}${named}${often}: refused`;
}

function timesOf(body: JsonObject): string {
  const times = Number(body["times"] ?? 1);
  return times > 1 ? `, ${times} times` : "";
}

function proxied(body: JsonObject, host: string, why: string): string {
  const method = body["method"] === undefined ? "reach" : said(body["method"]);
  if (body["allowed"] === false) return `tried to reach ${host}${timesOf(body)}: refused`;
  if (body["ok"] === false) return after(`tried to reach ${host}`, why || "refused");
  if (body["failed"] !== undefined) return `${method} ${host}: ${said(body["failed"])}`;
  const status = Number(body["status"] ?? 0);
  if (status >= 300 && status < 400 && status !== 304) {
    return `${method} ${host}: it redirects elsewhere (${status}), which was not followed`;
  }
  const often = timesOf(body);
  return body["status"] === undefined
    ? `reached ${host}${often}`
    : `${method} ${host}${often}: ${said(body["status"])}`;
}

function outcome(body: JsonObject, key: string): string {
  const words = [said(body[key]), said(body["why"])].filter((each) => each !== "");
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

function after(words: string, text: string): string {
  return text === "" ? words : `${words}: ${text}`;
}

/** A scalar of an event, as text. */
function said(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? value.replaceAll(/\s+/g, " ").trim() : "";
}
