/** The sockets. This module decides nothing: the address was vetted before. @module */
import {
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
  type RequestOptions,
} from "node:http";
import { request as requestSecure } from "node:https";
import { Fault } from "../contracts/base/fault.ts";
import {
  type Exchange,
  HEAD_BYTES,
  HEAD_LINES,
  type WireAnswer,
  type WireBody,
  type WireRequest,
} from "./exchange.ts";
import { tryIp } from "./address/ip.ts";

/** Trusted certificates other than the bundled roots. */
export interface ExchangeOptions {
  /** Certificates, PEM, trusted instead of the bundled ones. */
  readonly roots?: readonly string[];
}

/** Makes the real exchange: HTTP/1.1, one connection for each request, no proxy, no cache. */
export function makeExchange(options: ExchangeOptions = {}): Exchange {
  return Object.freeze<Exchange>({
    send: (request, signal) => send(request, { signal, roots: options.roots }),
  });
}

interface Sending {
  readonly signal: AbortSignal;
  readonly roots: readonly string[] | undefined;
}

function send(wire: WireRequest, { signal, roots }: Sending): Promise<WireAnswer> {
  const { url, address, method, body } = wire;
  // INVARIANT: the host is an address, so nothing is looked up (test: a name is never connected
  // to).
  if (tryIp(address) === undefined) throw new TypeError("Cannot connect: not an address");
  const secure = url.protocol === "https:";
  const parts: RequestOptions & { servername?: string; ca?: string[]; minVersion?: "TLSv1.2" } = {
    host: address,
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    method,
    path: wire.target ?? `${url.pathname}${url.search}`,
    headers: { host: url.host, ...unfrozen(wire.headers), ...framing(body) },
    setHost: false,
    agent: false,
    maxHeaderSize: HEAD_BYTES,
    insecureHTTPParser: false,
    ...(secure
      ? {
        // The certificate is checked against the URL's host, also if that is an IP address.
        servername: tryIp(url.hostname) === undefined ? url.hostname.replace(/\.$/, "") : "",
        minVersion: "TLSv1.2",
        ...(roots === undefined ? {} : { ca: [...roots] }),
      }
      : {}),
  };
  return new Promise((resolve, reject) => {
    let connected = false;
    let answered = false;
    const request = (secure ? requestSecure : requestPlain)(parts);
    const abort = (): void => {
      request.destroy();
      reject(signal.reason);
    };
    const fail = (cause: unknown): void => {
      request.destroy();
      reject(cause);
    };
    const giveUp = wire.connectMs === undefined ? undefined : setTimeout(() => {
      if (!connected) request.destroy(new Error("no connection in time"));
    }, wire.connectMs);
    const close = (): void => {
      clearTimeout(giveUp);
      signal.removeEventListener("abort", abort);
      request.destroy();
    };
    request.on("socket", (socket) => {
      socket.on(secure ? "secureConnect" : "connect", () => {
        connected = true;
        if (body !== undefined && !(body instanceof Uint8Array)) void sendBody(request, body, fail);
      });
    });
    // Stays attached, so that an error after the answer has begun is reported by the body and does
    // not end the process.
    request.on("error", (cause) => {
      if (answered) return;
      close();
      reject(signal.aborted ? signal.reason : trouble(cause, connected));
    });
    request.on("upgrade", () => {
      close();
      reject(new Fault("upstream", "Cannot read the answer: it changes the protocol"));
    });
    request.on("response", (message: IncomingMessage) => {
      answered = true;
      clearTimeout(giveUp);
      // An answer that nobody reads may fail without ending the process.
      message.on("error", () => undefined);
      const headers = pairs(message.rawHeaders);
      if (headers.length > HEAD_LINES) {
        close();
        reject(new Fault("tooLarge", `Cannot read the answer: more than ${HEAD_LINES} headers`));
        return;
      }
      resolve({
        status: message.statusCode ?? 0,
        headers,
        body: bodyOf(message, signal),
        [Symbol.dispose]: close,
      });
    });
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    if (body === undefined || body instanceof Uint8Array) request.end(body);
  });
}

/** INVARIANT: a body always has a length or chunks, also of a GET (test: "… is framed …"). */
function framing(body: WireRequest["body"]): Record<string, string | number> {
  if (body === undefined) return {};
  return body.length === undefined
    ? { "transfer-encoding": "chunked" }
    : { "content-length": body.length };
}

function unfrozen(headers: WireRequest["headers"]): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? value : [...value],
    ]),
  );
}

/** Sends one piece at a time: takes the next after the last was written. */
async function sendBody(
  request: ClientRequest,
  { bytes }: WireBody,
  fail: (cause: unknown) => void,
): Promise<void> {
  try {
    for await (const chunk of bytes) {
      const written = await new Promise<boolean>((resolve) =>
        request.write(chunk, (error) => resolve(!error))
      );
      // The answer or the connection is over; `error` or the answer's body reports it.
      if (!written) return;
    }
    request.end();
  } catch (cause) {
    fail(cause);
  }
}

async function* bodyOf(message: IncomingMessage, signal: AbortSignal): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of message) yield chunk;
  } catch (cause) {
    signal.throwIfAborted();
    throw new Fault("upstream", "Cannot read the answer: it ended early", { cause });
  }
  signal.throwIfAborted();
}

function pairs(raw: readonly string[]): (readonly [string, string])[] {
  const list: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    list.push([(raw[at] ?? "").toLowerCase(), raw[at + 1] ?? ""]);
  }
  return list;
}

function trouble(cause: Error, connected: boolean): Fault {
  const code = "code" in cause ? String(cause.code) : "";
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Fault("tooLarge", "Cannot read the answer: its head is too long", { cause });
  }
  if (connected) {
    const why = code.startsWith("HPE_") ? "it is not HTTP" : "the connection ended before it came";
    return new Fault("upstream", `Cannot read the answer: ${why}`, { cause });
  }
  const why = /CERT|ALTNAME|SELF_SIGNED|ISSUER|VERIFY/.test(code)
    ? "the certificate is not one for this host"
    : /TLS|SSL|EPROTO/.test(code)
    ? "no secure connection comes about"
    : "nothing answers there";
  return new Fault("unavailable", `Cannot connect: ${why}`, {
    detail: { connected: false },
    cause,
  });
}
