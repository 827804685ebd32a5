import { deepEqual, equal, rejects } from "node:assert/strict";
import { gzipSync } from "node:zlib";
import {
  allowed,
  isFault,
  makeHandClock,
  makeInService,
  makeNames,
  named,
} from "./_fixture/parts.ts";
import { hangAfter, raw, redirect, type Reply, reply, startSite } from "./_fixture/site.ts";

Deno.test("alice reads an answer piece by piece, each of 64 KiB at most, and its id is free at the end", async () => {
  const body = "0123456789".repeat(20_000);
  await using site = startSite(() => reply(200, { "set-cookie": "a=b", "x-own": "1" }, body));
  const service = makeInService();
  const allow = named(site.origin);
  const url = `${site.origin}/a?b=c`;
  const responseBytes = 1_000_000;
  const head = await service.open({ id: "one", url, allow, responseBytes });
  equal(head.status, 200);
  equal(head.hop.address, "127.0.0.1");
  deepEqual(Object.keys(head.headers).sort(), ["content-length", "x-own"]);
  let text = "";
  for (let piece = await service.read("one"); piece !== ""; piece = await service.read("one")) {
    equal(piece.length <= 65_536, true);
    text += piece;
  }
  equal(text, body);
  equal(site.seen[0]?.headers["accept-encoding"], "identity");
  await rejects(service.read("one"), isFault("notFound"));
  equal((await service.open({ id: "one", url, allow, responseBytes })).status, 200);
  service.cancel("one");
});

Deno.test("events come as they are sent, through pauses, and two streams do not wait for each other", async () => {
  const pens: ((text: string) => Promise<void>)[] = [];
  const over = Promise.withResolvers<void>();
  const events: Reply = async (write) => {
    await write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
    pens.push(write);
    await over.promise;
  };
  await using site = startSite(() => events);
  const clock = makeHandClock();
  const service = makeInService({ clock });
  const opened = (id: string) =>
    service.open({ id, url: `${site.origin}/${id}`, allow: named(site.origin), idleMs: 1_000 });
  await opened("alice");
  await opened("bob");
  const bob = service.read("bob");
  const first = service.read("alice");
  await pens[0]?.("data: 1\n\n");
  equal(await first, "data: 1\n\n");
  for (let event = 2; event < 6; event++) {
    // A pause between two events: shorter than what is allowed, all of them together longer.
    const next = service.read("alice");
    clock.turn(900);
    await pens[0]?.(`data: ${event}\n\n`);
    equal(await next, `data: ${event}\n\n`);
    if (event === 2) await pens[1]?.("data: b\n\n");
    if (event === 2) equal(await bob, "data: b\n\n");
  }
  over.resolve();
  equal(await service.read("alice"), "");
  equal(await service.read("bob"), "");
});

Deno.test("a site that says nothing, before its head and within its body, is left", async () => {
  await using site = startSite(({ target }) =>
    hangAfter(target === "/head" ? "" : "HTTP/1.1 200 OK\r\n\r\nbegin")
  );
  const clock = makeHandClock();
  const service = makeInService({ clock });
  const allow = named(site.origin);
  const opening = service.open({ url: `${site.origin}/head`, allow, headMs: 500 });
  const late = rejects(opening, isFault("timedOut", "500 ms"));
  await site.next();
  clock.turn(500);
  await late;
  await site.hungUp;
  await service.open({ id: "b", url: `${site.origin}/body`, allow, idleMs: 700 });
  equal(await service.read("b"), "begin");
  // While nobody reads no time is counted.
  clock.turn(10_000);
  const reading = rejects(service.read("b"), isFault("timedOut", "700 ms"));
  clock.turn(700);
  await reading;
  await rejects(service.read("b"), isFault("notFound"));
});

Deno.test("a stream is cancelled while it opens, while it is read, and between", async () => {
  await using site = startSite(({ target }) =>
    hangAfter(target === "/head" ? "" : "HTTP/1.1 200 OK\r\n\r\nbegin")
  );
  const service = makeInService();
  const allow = named(site.origin);
  const opening = rejects(
    service.open({ id: "a", url: `${site.origin}/head`, allow }),
    isFault("cancelled"),
  );
  await site.next();
  service.cancel("a");
  await opening;
  await service.open({ id: "b", url: `${site.origin}/`, allow });
  equal(await service.read("b"), "begin");
  const reading = rejects(service.read("b"), isFault("cancelled"));
  service.cancel("b");
  await reading;
  await service.open({ id: "c", url: `${site.origin}/`, allow });
  service.cancel("c");
  await rejects(service.read("c"), isFault("notFound"));
  await site.hungUp;
});

Deno.test("mallory's answer past its bound, cut short, compressed, or of another protocol ends as a fault", async () => {
  const bomb = gzipSync(new Uint8Array(1_000_000));
  await using site = startSite(({ target }) => {
    if (target === "/long") return reply(200, {}, "x".repeat(5_000));
    if (target === "/short") return raw("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nabc");
    if (target === "/packed") return reply(200, { "content-encoding": "GZIP" }, bomb);
    if (target === "/upgrade") {
      return raw("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    }
    return raw("SSH-2.0-OpenSSH_9\r\n");
  });
  const service = makeInService();
  const open = (path: string) =>
    service.open({
      ...{ id: path, url: `${site.origin}${path}`, allow: named(site.origin) },
      responseBytes: 1_000,
    });
  await open("/long");
  await rejects(service.read("/long"), isFault("tooLarge"));
  await open("/short");
  equal(await service.read("/short"), "abc");
  await rejects(service.read("/short"), isFault("upstream", "ended early"));
  await rejects(open("/packed"), isFault("upstream", "compressed"));
  await rejects(open("/upgrade"), isFault("upstream"));
  await rejects(open("/ssh"), isFault("upstream"));
});

Deno.test("a redirect is an answer like any other: it is not followed", async () => {
  await using other = startSite(() => reply(200, {}, "stolen"));
  await using site = startSite(() => redirect(307, `${other.origin}/`));
  const service = makeInService();
  const head = await service.open({
    ...{ id: "r", url: `${site.origin}/`, allow: named(site.origin, other.origin) },
    ...{ method: "POST", body: "{}", headers: { authorization: "Bearer x" } },
  });
  deepEqual([head.status, head.headers["location"]], [307, `${other.origin}/`]);
  equal(await service.read("r"), "");
  deepEqual(other.seen, []);
});

Deno.test("where a stream may go is judged as where a request may: origin, address, headers, size", async () => {
  await using site = startSite(() => reply(200, {}, "no"));
  const names = makeNames({ "flip.example": [["10.0.0.7"]] });
  const service = makeInService({ resolver: names });
  const ask = (more: Parameters<typeof service.open>[0]) => service.open(more);
  const url = `${site.origin}/`;
  await rejects(ask({ url }), isFault("refused", "not allowed"));
  await rejects(ask({ url, allow: allowed(site.origin) }), isFault("refused", "loopback"));
  const flip = "http://flip.example";
  await rejects(
    ask({ url: `${flip}/`, allow: allowed(flip) }),
    isFault("refused", "private address"),
  );
  for (const headers of [{ host: "x" }, { "x-a": "1\r\nx-b: 2" }, { cookie: "a=b" }]) {
    await rejects(ask({ url, allow: named(site.origin), headers }), isFault("refused"));
  }
  await rejects(
    ask({ url, allow: named(site.origin), method: "POST", body: "12345", requestBytes: 4 }),
    isFault("tooLarge"),
  );
  deepEqual(site.seen, []);
});

Deno.test("answers without a body end at once; an id is not opened or read twice at once; 64 are open at most", async () => {
  await using site = startSite(({ target }) =>
    target === "/none" ? reply(204) : hangAfter("HTTP/1.1 200 OK\r\n\r\n")
  );
  const service = makeInService();
  const allow = named(site.origin);
  equal((await service.open({ id: "n", url: `${site.origin}/none`, allow })).status, 204);
  equal(await service.read("n"), "");
  await service.open({ id: "w", url: `${site.origin}/w`, allow });
  await rejects(service.open({ id: "w", url: `${site.origin}/w`, allow }), isFault("conflict"));
  const reading = rejects(service.read("w"), isFault("cancelled"));
  await rejects(service.read("w"), isFault("conflict"));
  const many = Array.from({ length: 63 }, (_, n) => `m${n}`);
  await Promise.all(many.map((id) => service.open({ id, url: `${site.origin}/${id}`, allow })));
  await rejects(service.open({ url: `${site.origin}/x`, allow }), isFault("rateLimited"));
  service.cancel("w");
  await reading;
  equal((await service.open({ id: "x", url: `${site.origin}/none`, allow })).status, 204);
  for (const id of [...many, "x"]) service.cancel(id);
});
