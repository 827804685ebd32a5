import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { Fault } from "../contracts/fault.ts";
import type { JsonObject } from "../contracts/json.ts";
import type { GrantedCall } from "../contracts/power.ts";
import type { ProcessRow } from "../contracts/process.ts";
import { httpFetchBinding, originOf } from "./mod.ts";

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
