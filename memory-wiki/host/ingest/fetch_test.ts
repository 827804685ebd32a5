import assert from "node:assert/strict";
import { toJson } from "../../../contracts/base/mod.ts";
import type { NetRequest } from "../../../contracts/wire/mod.ts";
import { clock } from "../../../net/clock_powers.ts";
import { makeExchange } from "../../../net/exchange_powers.ts";
import { tryIp } from "../../../net/address/ip.ts";
import { resolvingNames } from "../../../net/address/resolver.ts";
import { makeNetService } from "../../../net/service.ts";
import { fetchPage, netAnswer } from "./fetch.ts";
import type { Fetched } from "../powers.ts";

type Serve = (url: URL) => Response;

/** Serves on loopback. */
async function fetching(serve: Serve, path: string): Promise<Fetched> {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    (request) => serve(new URL(request.url)),
  );
  const net = makeNetService({
    resolver: resolvingNames({ resolve: () => Promise.resolve(["127.0.0.1"]) }),
    exchange: makeExchange(),
    clock,
  });
  return await fetchPage(`http://127.0.0.1:${server.addr.port}${path}`, {
    fetchHops: async (request) => netAnswer(await net.ask("fetch", toJson(request))),
    isAddress: (name) => tryIp(name) !== undefined,
  }, new AbortController().signal);
}

const html = (text: string): Response =>
  new Response(text, { headers: { "content-type": "Text/HTML; charset=utf-8" } });

Deno.test("alice gets a page of an address that she wrote out, over a redirect at the same host", async () => {
  const page = await fetching(
    ({ pathname }) =>
      pathname === "/a"
        ? new Response(null, { status: 302, headers: { location: "/b" } })
        : html("hi"),
    "/a#part",
  );
  assert.equal(new TextDecoder().decode(page.bytes), "hi");
  assert.equal(page.mediaType, "text/html");
  assert.match(page.url, /\/b$/);
});

Deno.test("a name that leads to a private address is not reached", async () => {
  const net = makeNetService({
    resolver: resolvingNames({ resolve: () => Promise.resolve(["10.0.0.7"]) }),
    exchange: { send: () => Promise.reject(new Error("it connected")) },
    clock,
  });
  const parts = {
    fetchHops: async (request: NetRequest) => netAnswer(await net.ask("fetch", toJson(request))),
    isAddress: (name: string) => tryIp(name) !== undefined,
  };
  const { signal } = new AbortController();
  await assert.rejects(
    fetchPage("http://intranet.example.org/", parts, signal),
    { code: "refused", message: /leads to a private address/ },
  );
});

Deno.test("mallory's redirects to another host, without end, and to a file are not followed", async () => {
  const to = (location: string) => (): Response =>
    new Response(null, { status: 302, headers: { location } });
  for (
    const where of ["http://127.0.0.2/", "http://169.254.169.254/", "file:///etc/passwd", "/loop"]
  ) {
    await assert.rejects(fetching(to(where), "/"), { code: "refused" }, where);
  }
});

Deno.test("a missing page, a broken server, no http and a password in the URL are told apart", async () => {
  const status = (code: number) => (): Response => new Response("", { status: code });
  await assert.rejects(fetching(status(404), "/"), { code: "notFound" });
  await assert.rejects(fetching(status(500), "/"), { code: "upstream" });
  const none = { fetchHops: () => Promise.reject(new Error("asked")), isAddress: () => false };
  const { signal } = new AbortController();
  for (
    const url of ["ftp://example.org/x", "file:///etc/passwd", "https://a:b@example.org/", "no"]
  ) {
    await assert.rejects(fetchPage(url, none, signal), { code: "invalidInput" }, url);
  }
});

Deno.test("a page that is too long is refused, not cut", async () => {
  const long = (): Response => new Response(new Uint8Array(17 * 1024 * 1024));
  await assert.rejects(fetching(long, "/"), { code: "tooLarge" });
});

Deno.test("a redirect to another site is told with its address and what alice can do, not what a task could", async () => {
  const leaving = fetching(
    () => new Response(null, { status: 302, headers: { location: "//127.0.0.2/there?x=1" } }),
    "/",
  );
  const error: unknown = await leaving.then(() => undefined, (why: unknown) => why);
  assert.ok(error instanceof Error);
  assert.match(
    error.message,
    /^Cannot fetch ".*": it leads to "http:\/\/127\.0\.0\.2\/there\?x=1", another site, .*; if you trust that one, name it$/,
  );
  assert.doesNotMatch(error.message, /granted/);
  const looping = fetching(
    () => new Response(null, { status: 302, headers: { location: "/again" } }),
    "/",
  );
  await assert.rejects(looping, { message: /leads to "\/again": there were too many redirects/ });
});
