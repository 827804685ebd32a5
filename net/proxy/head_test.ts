import { deepEqual, equal, throws } from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { parseProxyHead } from "./head.ts";

const HOST = "Host: api.example";
const head = (first: string, ...lines: readonly string[]): string => [first, ...lines].join("\r\n");
const get = (...lines: readonly string[]): string =>
  head("GET http://api.example/ HTTP/1.1", HOST, ...lines);

const status = (text: string): number => {
  try {
    parseProxyHead(text);
  } catch (error) {
    if (error instanceof Fault) return Number(error.detail?.["status"]);
    throw error;
  }
  return 200;
};

Deno.test("alice's requests in absolute form and her tunnels are read as they are written", () => {
  deepEqual(
    parseProxyHead(head(
      "POST https://API.example:8443/a/../b?c='d'&e=%41 HTTP/1.1",
      "Host: api.example:8443",
      "X-One:  1 ",
      "Accept: a",
      "accept: b",
      "Content-Length: 3",
    )),
    {
      kind: "forward",
      place: { host: "api.example:8443", url: new URL("https://api.example:8443/") },
      method: "POST",
      target: "/a/../b?c='d'&e=%41",
      framing: { kind: "length", length: 3 },
      chunks: true,
      headers: { "x-one": ["1"], accept: ["a", "b"] },
    },
  );
  deepEqual(parseProxyHead(head("CONNECT api.example:443 HTTP/1.0")), {
    kind: "tunnel",
    place: { host: "api.example:443", url: new URL("https://api.example/") },
  });
  const plain = parseProxyHead(head("GET http://api.example HTTP/1.0"));
  deepEqual(plain.kind === "forward" && [plain.place.host, plain.target, plain.chunks], [
    "api.example:80",
    "/",
    false,
  ]);
});

Deno.test("what belongs to one connection is not handed on, nor what `connection` names", () => {
  const ask = parseProxyHead(get(
    "Connection: close, X-Secret",
    "X-Secret: 1",
    "Keep-Alive: timeout=5",
    "Proxy-Authorization: Basic eDp5",
    "Proxy-Connection: keep-alive",
    "TE: trailers",
    "Trailer: x",
    "HTTP2-Settings: AAMA",
    "X-Kept: 2",
  ));
  deepEqual(ask.kind === "forward" && ask.headers, { "x-kept": ["2"] });
});

Deno.test("mallory's heads that two readers could read differently are refused", () => {
  const refusals: Readonly<Record<string, string>> = {
    "two lengths": get("Content-Length: 3", "Content-Length: 4"),
    "two equal lengths": get("Content-Length: 3", "Content-Length: 3"),
    "a list of lengths": get("Content-Length: 3, 3"),
    "a signed length": get("Content-Length: +3"),
    "a hexadecimal length": get("Content-Length: 0x3"),
    "an empty length": get("Content-Length: "),
    "length and chunks": get("Content-Length: 3", "Transfer-Encoding: chunked"),
    "a space before the colon": get("X-A : 1"),
    "a folded line": get("X-A: 1", " X-B: 2"),
    "a header without a name": get(": 1"),
    "a line without a colon": get("X-A"),
    "a NUL in a value": get("X-A: \0"),
    "a line feed in a value": get("X-A: 1\nX-B: 2"),
    "a carriage return in a value": get("X-A: 1\rX-B: 2"),
    "another host": head("GET http://api.example/ HTTP/1.1", "Host: other.example"),
    "two hosts": get(HOST),
    "another port": head("GET http://api.example/ HTTP/1.1", "Host: api.example:8080"),
    "no host": head("GET http://api.example/ HTTP/1.1"),
    "an empty host": head("GET http://api.example/ HTTP/1.1", "Host:"),
    "another host of a tunnel": head("CONNECT api.example:443 HTTP/1.1", "Host: other.example:443"),
    "a tunnel with a body": head("CONNECT api.example:443 HTTP/1.0", "Content-Length: 3"),
    "a path alone": head("GET /x HTTP/1.1", HOST),
    "an asterisk": head("OPTIONS * HTTP/1.1", HOST),
    "another scheme": head("GET ftp://api.example/ HTTP/1.1", HOST),
    "a user name": head("GET http://a:b@api.example/ HTTP/1.1", HOST),
    "a backslash": head("GET http://api.example\\@evil.example/ HTTP/1.1", HOST),
    "a fragment": head("GET http://api.example/#a HTTP/1.1", HOST),
    "a query without a path": head("GET http://api.example?a HTTP/1.1", HOST),
    "a space in the target": head("GET http://api.example/a b HTTP/1.1", HOST),
    "two spaces": head("GET  http://api.example/ HTTP/1.1", HOST),
    "a method in lower case": head("get http://api.example/ HTTP/1.1", HOST),
    "another version": head("GET http://api.example/ HTTP/2.0", HOST),
    "version 0.9": head("GET http://api.example/"),
    "nothing": "",
  };
  for (const [what, text] of Object.entries(refusals)) equal(status(text), 400, what);
});

Deno.test("hosts in another spelling, without a port, in brackets, out of range are refused", () => {
  const targets = [
    ...["0x7f.1:80", "127.1:80", "2130706433:80", "017700000001:80", "[::1]:80", "api.example"],
    ...["api.example:0", "api.example:65536", "api.example:080", "api.example:", ":443"],
    ...["api.example:443:443", "api.example:443/", "user@api.example:443", "http://api.example"],
    ...["ap\u00ef.example:443", "*.example:443"],
  ];
  for (const target of targets) {
    const answer = status(head(`CONNECT ${target} HTTP/1.1`, `Host: ${target}`));
    equal(answer === 403 || answer === 400, true, `${target}: ${answer}`);
  }
});

Deno.test("what is not served is said to be so: expect, upgrade, other codings, other methods, too many headers", () => {
  equal(status(get("Expect: 100-continue")), 417);
  equal(status(get("Connection: upgrade", "Upgrade: websocket")), 501);
  equal(status(get("Transfer-Encoding: gzip, chunked")), 501);
  equal(status(get("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")), 501);
  equal(status(get("Transfer-Encoding: xchunked")), 501);
  equal(status(head("GET http://api.example/ HTTP/1.0", "Transfer-Encoding: chunked")), 501);
  equal(status(head("TRACE http://api.example/ HTTP/1.1", HOST)), 501);
  equal(status(get(...Array.from({ length: 128 }, (_, n) => `X-${n}: 1`))), 431);
  throws(() => parseProxyHead(get("Expect: x")), /Cannot serve the request/);
});
