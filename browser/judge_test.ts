import { deepEqual, equal } from "node:assert/strict";
import { type Granted, judgeRequest, type PageRequest, type Verdict } from "./judge.ts";

const ORIGIN = "https://a.example";
const FRESH = { sent: false, opened: false };
const get = (url: string, opens = false): PageRequest => ({
  ...{ url, method: "GET", body: undefined, opens },
});
const post = (url: string, body?: string): PageRequest => ({
  ...{ url, method: "POST", body, opens: true },
});
const why = (verdict: Verdict): string => verdict.kind === "refuse" ? verdict.why : verdict.kind;

Deno.test("a request is asked for within the origin that was granted, and nowhere else", () => {
  const granted: Granted = { origin: ORIGIN };
  const cases: readonly (readonly [string, string])[] = [
    [`${ORIGIN}/x?y#z`, "ask"],
    ["https://a.example:443/", "ask"],
    ["http://a.example/", "origin"],
    ["https://a.example:444/", "origin"],
    ["https://a.example.evil.example/", "origin"],
    ["https://a.example@evil.example/", "origin"],
    ["https://sub.a.example/", "origin"],
    ["http://169.254.169.254/", "origin"],
    ["file:///etc/passwd", "scheme"],
    ["chrome://settings", "scheme"],
    ["view-source:https://a.example/", "scheme"],
    ["ws://a.example/", "scheme"],
    ["ftp://a.example/", "scheme"],
    ["filesystem:https://a.example/x", "scheme"],
    ["data:text/plain,x", "local"],
    ["blob:https://a.example/1", "local"],
    ["no address", "scheme"],
  ];
  for (const [url, expected] of cases) {
    equal(why(judgeRequest(get(url), granted, FRESH)), expected, url);
  }
  equal(why(judgeRequest(get("data:text/html,x", true), granted, FRESH)), "scheme");
  equal(why(judgeRequest(get(`${ORIGIN}/`), undefined, FRESH)), "idle");
  equal(why(judgeRequest(get(`${ORIGIN}/`), { origin: undefined }, FRESH)), "idle");
});

Deno.test("nothing is sent but the one request that a person was shown, and that once", () => {
  const granted: Granted = { origin: ORIGIN, exact: { url: `${ORIGIN}/n`, body: "a=1" } };
  const judge = (request: PageRequest, done = FRESH): string =>
    why(judgeRequest(request, granted, done));
  equal(judge(post(`${ORIGIN}/n`, "a=1")), "ask");
  equal(judge(post(`${ORIGIN}/n#x`, "a=1")), "ask");
  equal(judge(post(`${ORIGIN}/n`, "a=1"), { sent: true, opened: true }), "sends");
  equal(judge(post(`${ORIGIN}/n`, "a=2")), "differs");
  equal(judge(post(`${ORIGIN}/n`)), "differs");
  equal(judge(post(`${ORIGIN}/m`, "a=1")), "differs");
  equal(judge({ ...post(`${ORIGIN}/n`, "a=1"), method: "PUT" }), "differs");
  equal(judge(post("https://b.example/n", "a=1")), "origin");
  equal(why(judgeRequest(post(`${ORIGIN}/n`, "a=1"), { origin: ORIGIN }, FRESH)), "sends");
});

Deno.test("the first page is the one that was named; what it leads on to is within the origin", () => {
  const granted: Granted = { origin: ORIGIN, leadsTo: `${ORIGIN}/find?q=1` };
  const judge = (url: string, opened: boolean): Verdict =>
    judgeRequest(get(url, true), granted, { sent: false, opened });
  deepEqual(judge(`${ORIGIN}/find?q=1#x`, false), { kind: "ask" });
  equal(why(judge(`${ORIGIN}/find?q=2`, false)), "differs");
  deepEqual(judge(`${ORIGIN}/deep`, true), { kind: "ask" });
});

Deno.test("a page of another origin leads to the granted one, and asks nothing else of it", () => {
  const judge = (request: PageRequest, granted: Granted = { origin: ORIGIN }) =>
    why(judgeRequest(request, granted, { ...FRESH, abroad: true }));
  equal(judge(get(`${ORIGIN}/x`, true)), "ask");
  equal(judge(get(`${ORIGIN}/x`)), "origin");
  const exact: Granted = { origin: ORIGIN, exact: { url: `${ORIGIN}/n`, body: "a=1" } };
  equal(judge(post(`${ORIGIN}/n`, "a=1"), exact), "ask");
  equal(judge({ ...post(`${ORIGIN}/n`, "a=1"), opens: false }, exact), "origin");
});
