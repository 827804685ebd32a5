import { deepEqual, equal } from "node:assert/strict";
import { allowed, makeInService, makeNames, makeUpAnswers, named } from "./_fixture/parts.ts";
import { redirect, reply, startSite } from "./_fixture/site.ts";
import { follow, type Step } from "./redirect.ts";

const FROM = new URL("https://a.example/dir/page?q=1");
const step = (method: string, more: Partial<Step> = {}): Step => ({
  method,
  url: FROM,
  headers: { authorization: "Bearer alice", "x-key": "k", accept: "text/html" },
  ...more,
});
const BODY = new TextEncoder().encode("alice's words");
const posting = (method: string): Step =>
  step(method, {
    body: BODY,
    headers: { ...step(method).headers, "content-type": "text/plain", "content-language": "en" },
  });

Deno.test("a method becomes GET exactly where the Fetch standard says so", () => {
  const became = (method: string, status: number): string => {
    const next = follow(step(method), status, ["/there"]);
    return next.kind === "go" ? next.step.method : next.kind;
  };
  const table = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((method) => [
    method,
    ...[301, 302, 303, 307, 308].map((status) => became(method, status)),
  ]);
  deepEqual(table, [
    ["GET", "GET", "GET", "GET", "GET", "GET"],
    ["HEAD", "HEAD", "HEAD", "HEAD", "HEAD", "HEAD"],
    ["POST", "GET", "GET", "GET", "POST", "POST"],
    ["PUT", "PUT", "PUT", "GET", "PUT", "PUT"],
    ["PATCH", "PATCH", "PATCH", "GET", "PATCH", "PATCH"],
    ["DELETE", "DELETE", "DELETE", "GET", "DELETE", "DELETE"],
  ]);
});

Deno.test("where the method changes, the body and what describes it are gone", () => {
  for (const status of [301, 302, 303]) {
    const next = follow(posting("POST"), status, ["/there"]);
    if (next.kind !== "go") throw new Error(next.kind);
    equal(next.step.body, undefined);
    deepEqual(Object.keys(next.step.headers), ["authorization", "x-key", "accept"]);
  }
  for (const status of [307, 308]) {
    const next = follow(posting("POST"), status, ["/there"]);
    if (next.kind !== "go") throw new Error(next.kind);
    equal(next.step.body, BODY);
    equal(next.step.headers["content-type"], "text/plain");
  }
});

Deno.test("another origin is given no header that could hold a secret, and never a body", () => {
  const other = ["https://b.example/", "https://a.example:444/", "https://x.a.example/"];
  for (const location of other) {
    const next = follow(step("GET"), 302, [location]);
    if (next.kind !== "go") throw new Error(next.kind);
    deepEqual(next.step.headers, { accept: "text/html" });
    for (const status of [307, 308]) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        equal(follow(posting(method), status, [location]).kind, "stop");
      }
    }
    const posted = follow(posting("POST"), 303, [location]);
    if (posted.kind !== "go") throw new Error(posted.kind);
    deepEqual(posted.step.headers, { accept: "text/html" });
  }
});

Deno.test("other statuses and answers without a place lead nowhere; two places stop", () => {
  for (const status of [200, 300, 304, 305, 306, 404]) {
    equal(follow(step("GET"), status, ["/there"]).kind, "end");
  }
  equal(follow(step("GET"), 302, []).kind, "end");
  equal(follow(step("GET"), 302, ["/a", "/b"]).kind, "stop");
  equal(follow(step("GET"), 302, ["/a", "/a"]).kind, "go");
});

Deno.test("relative places are read as the standard says, without fragments", () => {
  const to = (location: string): string => {
    const next = follow(step("GET"), 302, [location]);
    return next.kind === "go" ? next.step.url.href : next.kind;
  };
  equal(to("/there"), "https://a.example/there");
  equal(to("there"), "https://a.example/dir/there");
  equal(to("../there#part"), "https://a.example/there");
  equal(to("?q=2"), "https://a.example/dir/page?q=2");
  equal(to("//b.example/x"), "https://b.example/x");
  equal(to("https://b.example:443/x"), "https://b.example/x");
  equal(to("HTTPS://B.Example/x"), "https://b.example/x");
  equal(to("http://a.example/"), "stop");
  equal(to(`/${"a".repeat(2_048)}`), "stop");
  equal(to("/ä"), "stop");
});

Deno.test("on the wire a secret header stays with its origin, and no referrer is ever sent", async () => {
  await using there = startSite(() => reply(200, {}, "there"));
  await using here = startSite(({ target }) =>
    redirect(302, target === "/" ? "/again" : `${there.origin}/`)
  );
  const got = await makeInService().ask({
    url: `${here.origin}/`,
    headers: { Authorization: "Bearer alice", "X-Api-Key": "k", Accept: "text/html" },
    allow: named(here.origin, there.origin),
  });
  equal(got.url, `${there.origin}/`);
  deepEqual(here.seen.map(({ headers }) => headers["authorization"]), [
    "Bearer alice",
    "Bearer alice",
  ]);
  deepEqual(Object.keys(there.seen[0]?.headers ?? {}).sort(), [
    "accept",
    "accept-encoding",
    "connection",
    "host",
    "user-agent",
  ]);
  for (const { headers } of [...here.seen, ...there.seen]) equal(headers["referer"], undefined);
});

Deno.test("a body that was consented to for one origin is not sent on to another", async () => {
  for (const status of [307, 308]) {
    const exchange = makeUpAnswers(() => ({
      status,
      headers: [["location", "http://b.example/"]],
    }));
    const resolver = makeNames({
      "a.example": [["93.184.216.34"]],
      "b.example": [["93.184.216.34"]],
    });
    const got = await makeInService({ resolver, exchange }).ask({
      method: "POST",
      url: "http://a.example/",
      body: "private",
      allow: allowed("http://a.example", "http://b.example"),
    });
    equal(got.stopped?.why, "a POST is not sent on to another origin");
    equal(exchange.sent.length, 1);
  }
});
