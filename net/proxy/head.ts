/**
 * Parses the head of a proxy request strictly, so that no two readers can disagree. RFC 9110, 9112.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";

/** Where a request's body ends. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" };

/** A host as grants name it. */
export interface Place {
  /** `host:port`, lower case. */
  readonly host: string;
  /** Its origin, without a path. */
  readonly url: URL;
}

/** A request to a proxy. */
export type ProxyAsk =
  | { readonly kind: "tunnel"; readonly place: Place }
  | {
    readonly kind: "forward";
    readonly place: Place;
    readonly method: string;
    /** Path and query as written: visible ASCII. */
    readonly target: string;
    /** Names in lower case, without hop-by-hop headers. */
    readonly headers: Readonly<Record<string, readonly string[]>>;
    readonly framing: Framing;
    /** Whether the client accepts chunks. */
    readonly chunks: boolean;
  };

/** Maximum lines of a head. */
const LINES = 128;
const METHODS: ReadonlySet<string> = new Set(
  ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
);
const REQUEST_LINE = /^([A-Z]{1,16}) ([\x21-\x7e]{1,16384}) HTTP\/1\.([01])$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HOST = /^([a-z0-9.-]{1,253}):([1-9][0-9]{0,4})$/;
const FORWARD = /^(https?):\/\/([^/?#\\@]{1,260})(\/[^#\\]*)?$/i;

/** Hop-by-hop headers, never forwarded; nor are those that `connection` names. */
const HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "content-length", "host"],
]);

/** Dropped from answers; `alt-svc` would lead the client past this proxy. */
const HOP_OF_ANSWER: ReadonlySet<string> = new Set([...HOP, "alt-svc"]);

/** A refusal with its HTTP status; without a status the fault's code decides. */
function bad(why: string, status = 400): Fault {
  return new Fault(
    status === 403 ? "refused" : "invalidInput",
    `Cannot serve the request: ${why}`,
    {
      detail: { status },
    },
  );
}

/**
 * Parses a Latin-1 head without its last empty line. @throws {Fault} `invalidInput`, `refused`,
 * with `status`
 */
export function parseProxyHead(head: string): ProxyAsk {
  const [first = "", ...lines] = head.split("\r\n");
  const [, method = "", target = "", minor = ""] = REQUEST_LINE.exec(first) ?? [];
  if (method === "") throw bad("its first line is not one of HTTP/1.1");
  const headers = headersOf(lines);
  if (headers.has("expect")) throw bad("`expect` is not served", 417);
  if (headers.has("upgrade")) throw bad("`upgrade` is not served", 501);
  if (minor === "1" && !headers.has("host")) throw bad("it has no `host`");
  const framing = framingOf(headers, minor === "1");
  if (method === "CONNECT") {
    const place = placeOf("https", target);
    agree(headers, place, target);
    if (framing.kind !== "none") throw bad("CONNECT takes no body");
    return { kind: "tunnel", place };
  }
  if (!METHODS.has(method)) throw bad("the method is not known", 501);
  const [, scheme = "", authority = "", path = "/"] = FORWARD.exec(target) ?? [];
  if (scheme === "") throw bad("it names no host by an address `http://…` or `https://…`");
  const secure = scheme.toLowerCase() === "https";
  const place = placeOf(
    secure ? "https" : "http",
    authority.includes(":") ? authority : `${authority}:${secure ? 443 : 80}`,
  );
  agree(headers, place, authority);
  return {
    ...{ kind: "forward", place, method, target: path, framing, chunks: minor === "1" },
    headers: Object.fromEntries(endToEnd([...headers], HOP)),
  };
}

/** The headers of an answer that the client may receive. */
export function answerHeaders(
  pairs: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  const all = new Map<string, string[]>();
  for (const [name, value] of pairs) all.set(name, [...(all.get(name) ?? []), value]);
  return endToEnd([...all], HOP_OF_ANSWER)
    .flatMap(([name, values]) => values.map((value): readonly [string, string] => [name, value]))
    .filter(([name, value]) => NAME.test(name) && VALUE.test(value));
}

function headersOf(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  if (lines.length > LINES) throw bad(`it has more than ${LINES} headers`, 431);
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    // Readers disagree about a line that begins with a space, or has one before its colon.
    if (!NAME.test(name) || !VALUE.test(value)) throw bad("a header does not read");
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value.trim()]);
  }
  return headers;
}

function framingOf(headers: ReadonlyMap<string, readonly string[]>, chunks: boolean): Framing {
  const lengths = headers.get("content-length");
  const codings = headers.get("transfer-encoding");
  if (lengths !== undefined && codings !== undefined) throw bad("its body has two ends");
  if (codings !== undefined) {
    if (!chunks || codings.length !== 1 || codings[0]?.toLowerCase() !== "chunked") {
      throw bad("its `transfer-encoding` is not `chunked`", 501);
    }
    return { kind: "chunked" };
  }
  if (lengths === undefined) return { kind: "none" };
  const [length = ""] = lengths;
  if (lengths.length !== 1 || !/^[0-9]{1,15}$/.test(length)) {
    throw bad("its `content-length` is not one number");
  }
  return { kind: "length", length: Number(length) };
}

function placeOf(scheme: "http" | "https", authority: string): Place {
  const host = authority.toLowerCase();
  const [, name = "", port = ""] = HOST.exec(host) ?? [];
  const url = URL.canParse(`${scheme}://${host}/`) ? new URL(`${scheme}://${host}/`) : undefined;
  // One host, one spelling: the receiver may read 0x7f.1 as another host.
  if (url === undefined || name === "" || url.hostname !== name || Number(port) > 65_535) {
    throw bad("its host is not a name with a port, or not written as it is read", 403);
  }
  return { host, url };
}

/** Requires that `host` and the target agree. */
function agree(
  headers: ReadonlyMap<string, readonly string[]>,
  { host, url }: Place,
  written: string,
): void {
  const hosts = headers.get("host");
  if (hosts === undefined) return;
  const named = hosts[0]?.toLowerCase();
  const fits = named === host || named === url.host || named === written.toLowerCase();
  if (hosts.length !== 1 || !fits) throw bad("its `host` is not the one of its target");
}

function endToEnd(
  headers: readonly (readonly [string, readonly string[]])[],
  hop: ReadonlySet<string>,
): (readonly [string, readonly string[]])[] {
  const named = headers.filter(([name]) => name === "connection").flatMap(([, values]) => values)
    .flatMap((value) => value.toLowerCase().split(",").map((each) => each.trim()));
  const dropped = new Set([...hop, ...named]);
  return headers.filter(([name]) => !dropped.has(name));
}
