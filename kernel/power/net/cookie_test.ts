import assert from "node:assert/strict";
import type { ProfileCookie } from "../../../contracts/policy/browser_profile.ts";
import { cookieDate, cookieHeader, cookiesFor, parseSetCookie, sameCookie } from "./cookie.ts";

const NOW = Date.UTC(2026, 0, 1);
const APP = "https://app.example.org", TOP = "https://example.org";
const set = (line: string, url = `${APP}/a/b`, origins: readonly string[] = [APP, TOP]) =>
  parseSetCookie(line, { url: new URL(url), origins, now: NOW });
const kept = (line: string, url?: string, origins?: readonly string[]): ProfileCookie => {
  const read = set(line, url, origins);
  return read.kind === "kept" ? read.cookie : assert.fail(JSON.stringify(read));
};
const sent = (
  cookies: readonly ProfileCookie[],
  url: string,
  how: { method?: string; crossSite?: boolean; opens?: boolean; now?: number } = {},
): string =>
  cookieHeader(cookiesFor(cookies, {
    ...{ url: new URL(url), method: "GET", crossSite: false, opens: true, now: NOW },
    ...how,
  }));

Deno.test("a cookie goes back to the origin that set it, and to no other", () => {
  const cookie = kept("sid=abc; Path=/; Secure; HttpOnly");
  assert.equal(sent([cookie], `${APP}/x`), "sid=abc");
  for (
    const other of [
      ...[`${TOP}/x`, "https://a.app.example.org/x", "https://app.example.org.evil.test/"],
      ...[
        "http://app.example.org/x",
        "https://app.example.org:8443/x",
        "https://xapp.example.org/",
      ],
    ]
  ) assert.equal(sent([cookie], other), "", other);
});

Deno.test("a Domain shares where it is exactly an origin of the profile, and narrows or fails elsewhere", () => {
  const shared = kept("sid=abc; Domain=.Example.org; Path=/; Secure");
  assert.deepEqual([shared.origin, shared.shared], [TOP, true]);
  for (const to of [APP, TOP]) assert.equal(sent([shared], `${to}/`), "sid=abc");
  assert.equal(sent([shared], "https://example.org.evil.test/"), "");
  assert.equal(sent([shared], "https://badexample.org/"), "");
  for (const domain of ["org", "example.org"]) {
    const narrowed = kept(`sid=abc; Domain=${domain}; Path=/`, `${APP}/`, [APP]);
    assert.deepEqual([narrowed.origin, narrowed.shared], [APP, false], domain);
  }
  for (
    const domain of ["evil.test", "b.app.example.org", "ple.org", "xample.org", "app.example.org."]
  ) {
    assert.equal(set(`sid=abc; Domain=${domain}`).kind, "refused", domain);
  }
  const address = kept("sid=abc; Domain=127.0.0.1", "http://127.0.0.1:80/", ["http://127.0.0.1"]);
  assert.equal(address.shared, false);
});

Deno.test("prefixes, Secure and SameSite=None keep what they promise", () => {
  for (
    const wrong of [
      "__Host-a=1; Secure; Path=/; Domain=app.example.org",
      ...["__Host-a=1; Secure; Path=/a", "__Host-a=1; Secure", "__host-a=1; Path=/"],
      ...["__Secure-a=1", "a=1; SameSite=None", "=1", "lonely", "a=\x01", "a=ü"],
      `a=${"x".repeat(4_096)}`,
    ]
  ) assert.equal(set(wrong).kind, "refused", wrong.slice(0, 60));
  assert.equal(set("a=1; Secure", "http://localhost:1/", ["http://localhost:1"]).kind, "refused");
  kept("__Host-a=1; Secure; Path=/");
  kept("__Secure-a=1; Secure; Domain=example.org");
});

Deno.test("paths are whole parts, longer ones first, older ones first", () => {
  const deep = kept("a=deep; Path=/a/b");
  const top = kept("a=top; Path=/");
  const usual = kept("c=usual");
  assert.equal(usual.path, "/a");
  const jar = [{ ...top, createdAt: NOW - 2 }, deep, { ...usual, createdAt: NOW - 1 }];
  assert.equal(sent(jar, `${APP}/a/b/c`), "a=deep; c=usual; a=top");
  assert.equal(sent(jar, `${APP}/a/bc`), "c=usual; a=top");
  assert.equal(sent(jar, `${APP}/abc`), "a=top");
});

Deno.test("from a page of others a Strict cookie stays at home, and a Lax one goes with a new page alone", () => {
  const jar = ["strict", "lax", "none"].map((word) =>
    kept(`${word}=1; SameSite=${word}; Secure`, `${APP}/`)
  );
  const unsaid = kept("unsaid=1", `${APP}/`);
  const all = [...jar, unsaid];
  assert.equal(sent(all, `${APP}/`), "strict=1; lax=1; none=1; unsaid=1");
  assert.equal(sent(all, `${APP}/`, { crossSite: true }), "lax=1; none=1; unsaid=1");
  assert.equal(sent(all, `${APP}/`, { crossSite: true, opens: false }), "none=1");
  assert.equal(sent(all, `${APP}/`, { crossSite: true, method: "POST" }), "none=1");
});

Deno.test("Max-Age goes before Expires, and what is over is taken away and not sent", () => {
  assert.equal(
    kept("a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT").expiresAt,
    NOW + 60_000,
  );
  for (const over of ["Max-Age=0", "Max-Age=-5", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"]) {
    const read = set(`a=; ${over}`);
    assert.equal(read.kind, "gone", over);
    if (read.kind === "gone") assert.ok(sameCookie(read.cookie, kept("a=2")));
  }
  const cookie = kept("a=1; Max-Age=60");
  assert.equal(sent([cookie], `${APP}/a`, { now: NOW + 59_999 }), "a=1");
  assert.equal(sent([cookie], `${APP}/a`, { now: NOW + 60_000 }), "");
});

Deno.test("dates are read as the standard reads them", () => {
  const nov = Date.UTC(1994, 10, 6, 8, 49, 37);
  for (
    const text of [
      ...["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "6 nov 1994 8:49:37"],
      "Sun Nov  6 08:49:37 1994",
    ]
  ) assert.equal(cookieDate(text), nov, text);
  for (
    const none of [
      ...["", "tomorrow", "31 Feb 2026 00:00:00", "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00"],
      "06 Nov 1994",
    ]
  ) assert.equal(cookieDate(none), undefined, none);
});

Deno.test("a header is no longer than servers take, whatever the jar holds", () => {
  const many = Array.from({ length: 40 }, (_, n) => kept(`a${n}=${"x".repeat(1_000)}; Path=/`));
  const header = sent(many, `${APP}/`);
  assert.ok(header.length > 10_000 && header.length <= 16_384);
});
