/** A login's access to the network: a net service process vets and sends each request. @module */
import { Fault, isLoopback, type Json, toJson } from "../../../../contracts/base/mod.ts";
import type { NetRequest, NetStream } from "../../../../contracts/wire/mod.ts";
import * as z from "zod";

/** The answer to a request for JSON. */
export interface LoginAnswer {
  readonly status: number;
  /** The parsed body; undefined when it is no JSON or too long. */
  readonly json: unknown;
}

/** The requests of a login. They reject with the net service's faults. */
export interface LoginNet {
  /** Gets a document; redirects are followed within the origin alone. */
  get(url: URL): Promise<LoginAnswer>;
  /** Posts a form or JSON; redirects are refused, since the body would be sent on. */
  post(url: URL, body: string, headers: Readonly<Record<string, string>>): Promise<LoginAnswer>;
  /** The status and challenge of an unauthenticated request to the MCP server. The body is not read. */
  askServer(url: URL): Promise<{ readonly status: number; readonly challenge?: string }>;
}

/** A port to a net service. */
export interface NetLink {
  ask(op: string, body: Json): Promise<Json>;
  tell(op: string, body: Json): void;
}

const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_REQUEST_BYTES = 64 * 1024;
const DEADLINE_MS = 20_000;
const MAX_REDIRECTS = 2;
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
/** The same request for revision 2026-07-28, without sessions and `initialize`. */
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

/** Makes the network access of a login at one MCP server. */
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
      ...{
        requestBytes: MAX_REQUEST_BYTES,
        responseBytes: MAX_ANSWER_BYTES,
        deadlineMs: DEADLINE_MS,
      },
    };
    const { status, body, cut, stopped } = Answer.parse(await link.ask("fetch", toJson(asked)));
    if (stopped !== undefined || status >= 300 && status < 400) {
      throw noLogin(`${url.origin} sends the request on to another place, which is not followed`);
    }
    return { status, json: cut ? undefined : jsonOf(body) };
  };
  /** Sends a message and returns the head of the answer; the body is cancelled. */
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
      ...{ requestBytes: MAX_REQUEST_BYTES, responseBytes: MAX_ANSWER_BYTES },
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
        redirects: MAX_REDIRECTS,
      }),
    post: (url, body, headers) =>
      exchange(url, {
        ...{ method: "POST", body, redirects: 0 },
        headers: { accept: "application/json", ...headers },
      }),
    async askServer(url) {
      const initialized = await send(url, INITIALIZE, {});
      if (initialized.status === 401 || initialized.status === 403) return initialized;
      // Some servers accept `initialize` from everybody and demand a login at the first request.
      const session = initialized.session === undefined
        ? {}
        : { "mcp-session-id": initialized.session };
      const asked = initialized.status >= 200 && initialized.status <= 299
        ? await send(url, LIST, { ...session, "mcp-protocol-version": VERSION })
        : await send(url, NEWER_LIST, {
          "mcp-protocol-version": NEWER,
          "mcp-method": "tools/list",
        });
      return asked.status === 401 ? asked : initialized;
    },
  });
}

function jsonOf(base64: string): unknown {
  try {
    return JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(base64)),
    );
  } catch {
    // No JSON: the caller decides what that means.
    return undefined;
  }
}

const MAX_URL_CHARS = 2_048;

/** The fault of a login. `why` is a clause without secrets. */
export function noLogin(why: string, code: Fault["code"] = "refused", cause?: unknown): Fault {
  return new Fault(code, `Cannot log in: ${why}`, { cause });
}

/**
 * Parses an address to which a token, a code or a person will be sent: https, or http on this
 * machine if the MCP server is there, too. `what` names it in the refusal, such as `its token
 * endpoint`.
 *
 * @throws Fault `refused`
 */
export function loginUrl(text: string, what: string, server: URL): URL {
  if (
    text.length > MAX_URL_CHARS || !/^https?:\/\/[\x21-\x7e]+$/.test(text) || text.includes("\\")
  ) {
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
 * Whether an address may be on this machine or a private network: only where the person placed the
 * server there. Any other address must be on the public web, whatever the server says.
 */
function isNear(server: URL, url: URL): boolean {
  return url.origin === server.origin || isLoopback(server.hostname) && isLoopback(url.hostname);
}

/** Whether two issuers are equal, apart from a slash after the host. RFC 8414, section 3.3. */
export function sameIssuer(one: string, other: string): boolean {
  return one === other || `${one}/` === other && new URL(other).pathname === "/" ||
    one === `${other}/` && new URL(one).pathname === "/";
}
