/** The only way of a login to the network: each request vetted and sent by a net service process. @module */
import { Fault, isLoopback, type Json, toJson } from "../../../../contracts/base/mod.ts";
import type { NetRequest, NetStream } from "../../../../contracts/wire/mod.ts";
import * as z from "zod";

/** An answer that is to be JSON. */
export interface LoginAnswer {
  readonly status: number;
  /** Parsed; undefined when it is no JSON, or too long. */
  readonly json: unknown;
}

/** What a login asks of the network. Rejects with the net service's faults. */
export interface LoginNet {
  /** Gets a document; a redirect is followed within its own origin only. */
  get(url: URL): Promise<LoginAnswer>;
  /** Sends a form or JSON text; a redirect is refused: what was sent is not sent on. */
  post(url: URL, body: string, headers: Readonly<Record<string, string>>): Promise<LoginAnswer>;
  /** How the MCP server answers somebody whom it does not know. Nothing of the answer's body is read. */
  askServer(url: URL): Promise<{ readonly status: number; readonly challenge?: string }>;
}

/** A port to a net service. */
export interface NetLink {
  ask(op: string, body: Json): Promise<Json>;
  tell(op: string, body: Json): void;
}

const BYTES = 256 * 1024;
const SENT_BYTES = 64 * 1024;
const DEADLINE_MS = 20_000;
const REDIRECTS = 2;
const VERSION = "2025-11-25";
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: VERSION,
    capabilities: {},
    clientInfo: { name: "remit", version: "0" },
  },
});
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list", params: {} });
/** The same to a server that keeps no sessions and takes no `initialize`. */
const NEWER = "2026-07-28";
const NEWER_LIST = JSON.stringify({
  jsonrpc: "2.0",
  id: 3,
  method: "tools/list",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": NEWER,
      "io.modelcontextprotocol/clientInfo": { name: "remit", version: "0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});
const Answer = z.object({
  status: z.number(),
  body: z.string(),
  cut: z.boolean(),
  stopped: z.unknown().optional(),
});
const Head = z.object({
  status: z.int().min(100).max(599),
  headers: z.record(z.string(), z.string()),
});

/** Makes it for the login at one MCP server. */
export function makeLoginNet(link: NetLink, server: URL): LoginNet {
  let next = 0;
  const request = (url: URL): Pick<NetStream, "id" | "url" | "allow"> => ({
    id: `login${++next}`,
    url: url.href,
    allow: [{ origin: url.origin, named: isNear(server, url) }],
  });
  const exchange = async (
    url: URL,
    more: Pick<NetRequest, "method" | "headers" | "redirects" | "body">,
  ): Promise<LoginAnswer> => {
    const asked: NetRequest = {
      ...{ ...request(url), ...more },
      ...{ requestBytes: SENT_BYTES, responseBytes: BYTES, deadlineMs: DEADLINE_MS },
    };
    const { status, body, cut, stopped } = Answer.parse(await link.ask("fetch", toJson(asked)));
    if (stopped !== undefined || status >= 300 && status < 400) {
      throw noLogin(`${url.origin} sends the request on to another place, which is not followed`);
    }
    return { status, json: cut ? undefined : jsonOf(body) };
  };
  /** The head of the answer to one message; its body is left. */
  const send = async (url: URL, body: string, headers: Readonly<Record<string, string>>): Promise<
    { readonly status: number; readonly challenge?: string; readonly session?: string }
  > => {
    const asked: NetStream = {
      ...{ ...request(url), method: "POST", body },
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      ...{ requestBytes: SENT_BYTES, responseBytes: BYTES },
      ...{ headMs: DEADLINE_MS, idleMs: DEADLINE_MS },
    };
    const answer = Head.parse(await link.ask("stream", toJson(asked)));
    link.tell("cancel", { id: asked.id });
    const { "www-authenticate": challenge, "mcp-session-id": session } = answer.headers;
    return {
      status: answer.status,
      ...(challenge === undefined ? {} : { challenge }),
      ...(session === undefined || !/^[\x21-\x7e]{1,1024}$/.test(session) ? {} : { session }),
    };
  };
  return Object.freeze<LoginNet>({
    get: (url) =>
      exchange(url, {
        method: "GET",
        headers: { accept: "application/json", "mcp-protocol-version": VERSION },
        redirects: REDIRECTS,
      }),
    post: (url, body, headers) =>
      exchange(url, {
        ...{ method: "POST", body, redirects: 0 },
        headers: { accept: "application/json", ...headers },
      }),
    async askServer(url) {
      const greeted = await send(url, INITIALIZE, {});
      if (greeted.status === 401 || greeted.status === 403) return greeted;
      // Some greet everybody, and ask who it is at the first question.
      const session = greeted.session === undefined ? {} : { "mcp-session-id": greeted.session };
      const asked = greeted.status >= 200 && greeted.status <= 299
        ? await send(url, LIST, { ...session, "mcp-protocol-version": VERSION })
        : await send(url, NEWER_LIST, {
          "mcp-protocol-version": NEWER,
          "mcp-method": "tools/list",
        });
      return asked.status === 401 ? asked : greeted;
    },
  });
}

function jsonOf(base64: string): unknown {
  try {
    return JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(base64)),
    );
  } catch {
    // Not JSON: whoever asked says what that means.
    return undefined;
  }
}

// Every address that a server names is judged before anything is sent there. RFC 9728, RFC 8414.

const LENGTH = 2_048;

/** A refusal to log in. `why` is one clause; nothing secret is in it. */
export function noLogin(why: string, code: Fault["code"] = "refused", cause?: unknown): Fault {
  return new Fault(code, `Cannot log in: ${why}`, { cause });
}

/**
 * Parses an address that a token, a code or a person is to be sent to: https, or http on this machine where the MCP
 * server itself is on it. `what` names it in the refusal: `its token endpoint`.
 *
 * @throws Fault `refused`
 */
export function loginUrl(text: string, what: string, server: URL): URL {
  if (text.length > LENGTH || !/^https?:\/\/[\x21-\x7e]+$/.test(text) || text.includes("\\")) {
    throw noLogin(`${what} is no plain https address`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw noLogin(`${what} is no address`);
  if (url.username !== "" || url.password !== "" || text.includes("#")) {
    throw noLogin(`${what} holds a user name, a password or a fragment`);
  }
  if (url.protocol === "http:" && !(isLoopback(url.hostname) && isLoopback(server.hostname))) {
    throw noLogin(`${what} is not https: what is sent there could be read by others`);
  }
  return url;
}

/**
 * Whether an address may lie on this machine or a private network: where the person said that the server itself does.
 * Everything else must be on the public web, whatever the server's words are.
 */
function isNear(server: URL, url: URL): boolean {
  return url.origin === server.origin || isLoopback(server.hostname) && isLoopback(url.hostname);
}

/** Whether two issuers are one: the same address but for a slash behind the host. RFC 8414, section 3.3. */
export function sameIssuer(one: string, other: string): boolean {
  return one === other || `${one}/` === other && new URL(other).pathname === "/" ||
    one === `${other}/` && new URL(one).pathname === "/";
}
