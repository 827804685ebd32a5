import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { Fault } from "../contracts/base/fault.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { ProcessRow } from "../contracts/task/process.ts";
import { httpFetchBinding, originOf } from "./mod.ts";
import { Buffer } from "node:buffer";
import type { NetAnswer } from "../contracts/wire/wire_net.ts";
import { fetchResult, tryText } from "./http_fetch.ts";

const alice = { colour: "YELLOW", label: "internal" } as ProcessRow;
const resolve = (args: JsonObject) => httpFetchBinding().resolve(args, alice);

Deno.test("alice's GET is outbound reading of exactly its origin", () => {
  const resolved = resolve({ url: "https://example.org/a?b=c" });
  equal(resolved.effect, "outboundRead");
  equal(resolved.destination, "https://example.org");
  deepEqual(resolved.scopes, [{ resource: "net", right: "use", path: "https://example.org" }]);
});

Deno.test("alice's POST is outbound writing, and is not repeated after a crash", () => {
  const resolved = resolve({ url: "https://example.org/", method: "POST", body: "x" });
  equal(resolved.effect, "outboundWrite");
  equal(resolved.idempotent, false);
});

const HOSTILE = [
  "file:///etc/passwd",
  "https://user@example.org/",
  "https://user:pw@example.org/",
  "https://@example.org/",
  "https://example.org\\@evil.example/",
  "https://example.org/#f",
  "https://example.org/ a",
  "https://example.org/\n",
  "https://ex\u0430mple.org/",
  "http://0x7f.1/",
  "http://127.1/",
  "https://example.org:443/",
  "https://example.org/a/../b",
  "HTTPS://example.org/",
  "https:example.org",
  "https://EXAMPLE.org/",
  "data:text/plain,x",
  "//example.org/",
  `https://example.org/${"a".repeat(2_048)}`,
];
for (const url of HOSTILE) {
  Deno.test(`mallory's address ${JSON.stringify(url.slice(0, 40))} is refused`, () => {
    throws(() => originOf(url), (e) => e instanceof Fault && e.code === "invalidArguments");
  });
}

Deno.test("mallory's unknown method and a GET with a body are refused", () => {
  const refused = (e: unknown): boolean => e instanceof Fault && e.code === "invalidArguments";
  throws(() => resolve({ url: "https://example.org/", method: "CONNECT" }), refused);
  throws(() => resolve({ url: "https://example.org/", body: "x" }), refused);
});

Deno.test("mallory's headers are refused before anybody is asked about them", () => {
  const refused = (e: unknown): boolean => e instanceof Fault && e.code === "invalidArguments";
  for (const headers of [{ Host: "inside" }, { cookie: "a=b" }, { "x-a": "a\r\nb" }]) {
    throws(() => resolve({ url: "https://example.org/", headers }), refused);
  }
});

Deno.test("without a net service a fetch that was let through ends in unavailable", async () => {
  const call = {} as GrantedCall;
  await rejects(
    httpFetchBinding().invoke(call, new AbortController().signal),
    (e) => e instanceof Fault && e.code === "unavailable",
  );
});

Deno.test("the token is taken before anything is sent, and once", async () => {
  const done: string[] = [];
  const answer = {
    ...{ status: 200, url: "https://example.org/", headers: {}, body: btoa("hello"), bytes: 5 },
    ...{ cut: false, hops: [] },
  };
  const args = { url: "https://example.org/", method: "POST", headers: { "X-A": "b" }, body: "x" };
  const call = { args, resultBytes: 1_000 } as unknown as GrantedCall;
  const { signal } = new AbortController();
  const binding = httpFetchBinding({
    fetch: (of, request, until) => {
      equal(of, call);
      equal(until, signal);
      deepEqual(request, args);
      done.push("fetch");
      return Promise.resolve(answer);
    },
    redeem: () => done.push("redeem"),
  });
  const result = await binding.invoke(call, signal);
  deepEqual(done, ["redeem", "fetch"]);
  match(result.content, /hello$/);
  equal(result.colour, "RED");

  const spent = httpFetchBinding({
    fetch: () => Promise.reject(new TypeError("it was sent")),
    redeem: () => {
      throw new Fault("refused", "Cannot redeem token: it was taken");
    },
  });
  await rejects(spent.invoke(call, signal), (e) => e instanceof Fault && e.code === "refused");
});

function answer(body: string | readonly number[], more: Partial<NetAnswer> = {}): NetAnswer {
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
  const hop = {
    method: "GET",
    url: "https://a.example/",
    address: "93.184.216.34",
    status: 200,
    ms: 1,
  };
  return {
    status: 200,
    url: "https://a.example/",
    headers: { "content-type": "text/plain" },
    body: bytes.toString("base64"),
    bytes: bytes.length,
    cut: false,
    hops: [hop],
    ...more,
  };
}
const call = { resultBytes: 4_096 };
const typed = (type: string): Partial<NetAnswer> => ({ headers: { "content-type": type } });

Deno.test("alice sees status, type and text; it is RED and from where it is", () => {
  const result = fetchResult(answer("hello"), call);
  equal(result.content, "HTTP 200 from https://a.example/\ncontent-type: text/plain\n\nhello");
  deepEqual([result.colour, result.label], ["RED", "public"]);
  deepEqual(result.sources, [{ source: "https://a.example/", colour: "RED", label: "public" }]);
  deepEqual(result.value, {
    status: 200,
    url: "https://a.example/",
    contentType: "text/plain",
    bytes: 5,
    cut: false,
  });
});

Deno.test("what came from an address that is not public is internal", () => {
  const hop = { method: "GET", url: "http://i.example/", address: "10.0.0.1", status: 200, ms: 1 };
  equal(fetchResult(answer("x", { hops: [hop] }), call).label, "internal");
});

Deno.test("a redirect that was not followed is told with where to and why", () => {
  const stopped = { location: "http://b.example/", why: "not allowed" };
  const result = fetchResult(answer("moved", { status: 302, stopped }), call);
  match(result.content, /^HTTP 302 .*\n.*\nredirect to "http:\/\/b\.example\/" not followed: not/);
  match(JSON.stringify(result.value), /"stopped":\{"location"/);
});

Deno.test("a long body is cut within the call's bytes, never within a character, and it says so", () => {
  const result = fetchResult(answer("ä".repeat(10_000)), { resultBytes: 1_001 });
  ok(Buffer.byteLength(result.content) <= 1_001, `${Buffer.byteLength(result.content)}`);
  match(result.content, /ä\n\(cut: \d+ bytes of 20000 are shown\)$/);
  const cut = fetchResult(answer("abc", { cut: true }), call);
  match(cut.content, /abc\n\(cut: the answer goes on after 3 bytes\)$/);
});

Deno.test("what is not text is a note with its size and digest", () => {
  const png = [0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3];
  for (
    const type of ["image/png", "application/octet-stream", "application/pdf", "text/plain", ""]
  ) {
    const { content } = fetchResult(answer(png, typed(type)), call);
    match(content, /\(not text: 8 bytes, sha256 [0-9a-f]{64}\)$/, type);
  }
});

Deno.test("text is read by its charset: header, mark, meta element, else UTF-8", () => {
  const read = (bytes: readonly number[] | string, type: string) =>
    tryText(answer(bytes, typed(type)));
  equal(read([0xe4], "text/plain; charset=iso-8859-1"), "ä");
  equal(read([0xe4], 'text/plain; Charset="windows-1252"'), "ä");
  equal(read([0xef, 0xbb, 0xbf, 0x61], "text/plain; charset=latin1"), "a");
  equal(read([0xff, 0xfe, 0x61, 0], "text/plain"), "a");
  const page = [...Buffer.from('<html><meta charset="latin1">'), 0xe4];
  equal(read(page, "text/html")?.at(-1), "ä");
  equal(read("ä", "text/plain; charset=no-such"), "ä");
  equal(read("ä", "application/vnd.api+json"), "ä");
  equal(read('{"a":1}', "application/octet-stream"), '{"a":1}');
  equal(read([0xfd, 0xfe, 0xff], "application/octet-stream"), undefined);
  equal(tryText(answer([0x61, 0xc3], { headers: {}, cut: true })), "a");
});
