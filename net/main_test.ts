import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { bundled } from "../port/_fixture/bundled_child.ts";
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import type { NetAnswer } from "../contracts/wire/wire_net.ts";
import { hangAfter, redirect, reply, type Seen, type Site, startSite } from "./_fixture/site.ts";
import { startNet } from "./_fixture/net_child.ts";

const answer = ({ target }: Seen) => {
  if (target === "/away") return redirect(302, "http://169.254.169.254/latest/meta-data/");
  if (target === "/slow") return hangAfter("");
  if (target === "/large") return reply(200, {}, "x".repeat(9_000_000));
  return reply(200, { "content-type": "text/plain", "set-cookie": "a=b" }, "hello");
};

const request = (site: Site, path: string, more: Record<string, Json> = {}): Json => ({
  id: path,
  method: "GET",
  url: `${site.origin}${path}`,
  headers: {},
  allow: [{ origin: site.origin, named: true }],
  redirects: 5,
  requestBytes: 1_000,
  responseBytes: 1_000,
  deadlineMs: 200_000,
  ...more,
});

const refused = (why: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === "refused" && why.test(error.message);

Deno.test("a real net service with net permission alone", async (t) => {
  await using built = await bundled(new URL("./main.ts", import.meta.url));
  await using site = startSite(answer);
  await using net = startNet(built.file);
  const ask = async (body: Json) => await net.port.ask("fetch", body) as unknown as NetAnswer;

  await t.step("fetches from a loopback origin that was named", async () => {
    const got = await ask(request(site, "/"));
    equal(got.status, 200);
    equal(atob(got.body), "hello");
    equal(got.hops[0]?.address, "127.0.0.1");
    equal(got.headers["set-cookie"], undefined);
    const headers = site.seen.at(-1)?.headers;
    equal(headers?.["user-agent"], "remit");
    equal(headers?.["referer"], undefined);
    equal(headers?.["cookie"], undefined);
  });

  await t.step("refuses loopback that was not named, before anything is sent", async () => {
    const before = site.seen.length;
    const allow = [{ origin: site.origin, named: false }];
    await rejects(ask(request(site, "/", { allow })), refused(/loopback/));
    await rejects(ask(request(site, "/", { allow: [] })), refused(/not allowed/));
    equal(site.seen.length, before);
  });

  await t.step("does not follow a redirect to metadata, allowed or not", async () => {
    const metadata = "http://169.254.169.254";
    const there = { origin: metadata, named: false };
    const here = { origin: site.origin, named: true };
    const plain = await ask(request(site, "/away"));
    match(plain.stopped?.why ?? "", /not allowed/);
    const allowed = await ask(request(site, "/away", { allow: [here, there] }));
    match(allowed.stopped?.why ?? "", /link-local/);
    equal(allowed.hops.length, 1);
  });

  await t.step("localhost is itself, and is refused unless named", async () => {
    const origin = `http://localhost:${site.port}`;
    const url = `${origin}/`;
    const got = await ask(request(site, "/", { url, allow: [{ origin, named: true }] }));
    equal(atob(got.body), "hello");
    await rejects(
      ask(request(site, "/", { url, allow: [{ origin, named: false }] })),
      refused(/loopback/),
    );
  });

  await t.step("a cancel and a deadline end a request that waits", async () => {
    const waiting = ask(request(site, "/slow"));
    await site.next();
    net.port.tell("cancel", { id: "/slow" });
    await rejects(waiting, (e) => e instanceof Fault && e.code === "cancelled");
    await rejects(
      ask(request(site, "/slow", { deadlineMs: 50 })),
      (e) => e instanceof Fault && e.code === "timedOut",
    );
    equal((await ask(request(site, "/"))).status, 200);
  });

  await t.step("hands on an answer of megabytes in one frame", async () => {
    const got = await ask(request(site, "/large", { responseBytes: 16_000_000 }));
    deepEqual([got.bytes, got.cut, got.body.length], [9_000_000, false, 12_000_000]);
  });

  await t.step("ends by itself, with 0, when the kernel hangs up", async () => {
    equal(await net.hangUp(), 0);
  });
});
