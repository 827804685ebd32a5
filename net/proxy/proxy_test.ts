import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { makeCertificate } from "../_fixture/certificate.ts";
import { isFault, makeNames } from "../_fixture/parts.ts";
import { connectTo, openProxy } from "../_fixture/proxy.ts";
import { hangAfter, raw, redirect, reply, startSite } from "../_fixture/site.ts";
import { makeExchange } from "../exchange_powers.ts";
import { makeProxies } from "./proxies.ts";
import { makeSockets } from "../sockets_powers.ts";

const names = makeNames({
  "inner.example": [["127.0.0.1"]],
  "private.example": [["10.0.0.7"]],
  "cloud.example": [["169.254.169.254"]],
});
const grant = (host: string, named = true) => ({ host, named });
const get = (host: string, path = "/"): string =>
  `GET http://${host}${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

Deno.test("a granted host is reached in absolute form, with the request as it was and the answer as it came", async () => {
  await using site = startSite(() =>
    reply(201, { "set-cookie": "a=b", "x-own": "caf\u00e9", "keep-alive": "timeout=9" }, "made")
  );
  const host = `inner.example:${site.port}`;
  await using proxy = await openProxy([grant(host)], { names });
  const answer = await proxy.ask(
    `POST http://${host}/a?b='c' HTTP/1.1\r\nHost: ${host}\r\nCookie: k=v\r\nX-A: 1\r\nX-A: 2\r\n` +
      "Proxy-Authorization: Basic eDp5\r\nContent-Length: 5\r\n\r\nhello",
  );
  match(answer, /^HTTP\/1\.1 201 [^\r]*\r\n/);
  match(answer, /\r\nset-cookie: a=b\r\n/);
  match(answer, /\r\nconnection: close\r\n/);
  match(answer, /\r\n\r\nmade$/);
  equal(/keep-alive/.test(answer), false);
  const [seen] = site.seen;
  deepEqual([seen?.method, seen?.target, seen?.body], ["POST", "/a?b='c'", "hello"]);
  deepEqual([seen?.headers["host"], seen?.headers["cookie"]], [host, "k=v"]);
  equal(seen?.headers["proxy-authorization"], undefined);
  deepEqual(proxy.told, [{ id: "p", host, ok: true }]);
});

Deno.test("hosts and ports that were not granted, and addresses that were not named, are refused and told", async () => {
  await using site = startSite(() => reply(200, {}, "no"));
  const here = `inner.example:${site.port}`;
  await using proxy = await openProxy([
    ...[grant("private.example:443", false), grant("cloud.example:80"), grant(here, false)],
    ...[
      grant("127.0.0.1:8080", false),
      grant("169.254.169.254:80", false),
      grant("void.example:80"),
    ],
  ], { names });
  const cases: readonly (readonly [string, number, RegExp])[] = [
    [get("other.example"), 403, /not granted/],
    [get("inner.example:1"), 403, /not granted/],
    [get("private.example:443"), 403, /a private address/],
    [get("cloud.example"), 403, /link-local/],
    [get(here), 403, /a loopback address/],
    [get("127.0.0.1:8080"), 403, /loopback/],
    [get("169.254.169.254"), 403, /link-local/],
    [get("void.example"), 502, /void\.example/],
    ["CONNECT 127.0.0.1:8080 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", 403, /loopback/],
    ["CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\n\r\n", 403, /link-local/],
    ["CONNECT [::1]:80 HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 403, /written as it is read/],
    ["CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n", 403, /not granted/],
  ];
  for (const [text, status, why] of cases) {
    const answer = await proxy.ask(text);
    match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), text);
    match(answer, why, text);
    match(proxy.told.at(-1)?.why ?? "", why, text);
  }
  equal(proxy.told.length, cases.length);
  equal(proxy.told.every(({ ok }) => !ok), true);
  deepEqual(site.seen, []);
});

Deno.test("a name that flips after the check is connected to where it was vetted", async () => {
  await using site = startSite(() => reply(200, {}, "vetted"));
  const flip = makeNames({ "flip.example": [["127.0.0.1"], ["10.0.0.7"]] });
  const host = `flip.example:${site.port}`;
  await using proxy = await openProxy([grant(host)], { names: flip });
  match(await proxy.ask(get(host)), /vetted$/);
  deepEqual(flip.asked, ["flip.example"]);
  const cloud = makeNames({ "flip.example": [["169.254.169.254"]] });
  await using other = await openProxy([grant(host)], { names: cloud });
  match(await other.ask(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`), /^HTTP\/1\.1 403 /);
});

Deno.test("a redirect is handed on and not followed", async () => {
  await using other = startSite(() => reply(200, {}, "no"));
  await using site = startSite(() => redirect(302, `${other.origin}/`));
  await using proxy = await openProxy([grant(`127.0.0.1:${site.port}`)]);
  const answer = await proxy.ask(get(`127.0.0.1:${site.port}`));
  match(answer, /^HTTP\/1\.1 302 /);
  match(answer, new RegExp(`location: ${other.origin}/`));
  deepEqual(other.seen, []);
});

Deno.test("https in absolute form: the service makes the secure connection, and only to whom the certificate names", async () => {
  const tls = await makeCertificate(["inner.example"]);
  await using site = startSite(() => reply(200, {}, "secure"), { tls });
  const host = `inner.example:${site.port}`;
  const ask = `GET https://${host}/x HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const exchange = makeExchange({ roots: [tls.cert] });
  await using proxy = await openProxy([grant(host)], { names, exchange });
  match(await proxy.ask(ask), /secure$/);
  equal(site.seen[0]?.target, "/x");
  await using strict = await openProxy([grant(host)], { names });
  const answer = await strict.ask(ask);
  match(answer, /^HTTP\/1\.1 502 /);
  match(answer, /certificate/);
  equal(site.seen.length, 1);
});

Deno.test("a tunnel carries bytes both ways, also those that came with its head, and each half ends by itself", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await listener.accept();
    const buffer = new Uint8Array(64);
    let heard = "";
    for (let n = await connection.read(buffer); n !== null; n = await connection.read(buffer)) {
      heard += new TextDecoder().decode(buffer.subarray(0, n));
    }
    await connection.write(new TextEncoder().encode(`heard ${heard}`));
  })();
  const host = `127.0.0.1:${listener.addr.port}`;
  await using proxy = await openProxy([grant(host)]);
  using client = await connectTo(proxy.path);
  await client.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\nearly `);
  match(await client.read(), /^HTTP\/1\.1 200 [^\r]*\r\n\r\n$/);
  await client.write("late");
  await client.closeWrite();
  equal(await client.rest(), "heard early late");
  await serving;
  deepEqual(proxy.told, [{ id: "p", host, ok: true }]);
});

Deno.test("one request a connection: what mallory sends behind it, or within its body, is nobody's request", async () => {
  await using site = startSite(({ body }) => reply(200, {}, `body ${JSON.stringify(body)}`));
  const host = `127.0.0.1:${site.port}`;
  await using proxy = await openProxy([grant(host)]);
  const first = `POST http://${host}/1 HTTP/1.1\r\nHost: ${host}\r\n`;
  const answers = [
    await proxy.ask(get(host, "/1") + get(host, "/2")),
    await proxy.ask(`${first}Content-Length: 3\r\n\r\nabc${get(host, "/2")}`),
    await proxy.ask(`${first}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${get(host, "/2")}`),
    await proxy.ask(
      `GET http://${host}/1 HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\n\r\nG / H`,
    ),
  ];
  for (const answer of answers) {
    equal(answer.split("HTTP/1.1 200").length, 2, answer);
    match(answer, /connection: close/);
  }
  deepEqual(site.seen.map(({ target }) => target), ["/1", "/1", "/1", "/1"]);
  const bodies = site.seen.map(({ body, headers }) => [body, headers["content-length"]]);
  deepEqual([bodies[0], bodies[1], bodies[3]], [["", undefined], ["abc", "3"], ["G / H", "5"]]);
  for (
    const bad of [
      "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "Content-Length: 3\r\nContent-Length: 9\r\n\r\nabc",
      "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      "X-A: 1\r\n\tfolded: 2\r\n\r\n",
      "X-A: 1\nX-B: 2\r\n\r\n",
    ]
  ) match(await proxy.ask(first + bad), /^HTTP\/1\.1 400 /);
  match(
    await proxy.ask(`${first}Transfer-Encoding: chunked\r\n\r\nzz\r\n`),
    /^HTTP\/1\.1 400 /,
  );
  equal(site.seen.length, 4);
});

Deno.test("a body in chunks is framed anew in chunks, also that of a GET, and no length is guessed", async () => {
  const heads: string[] = [];
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for (const _ of ["GET", "POST", "DELETE"]) {
      using connection = await listener.accept();
      const buffer = new Uint8Array(65_536);
      let text = "";
      while (!text.endsWith("0\r\n\r\n")) {
        const n = await connection.read(buffer);
        if (n === null) break;
        text += new TextDecoder().decode(buffer.subarray(0, n));
      }
      heads.push(text);
      await connection.write(new TextEncoder().encode("HTTP/1.1 204 No Content\r\n\r\n"));
    }
  })();
  const host = `127.0.0.1:${listener.addr.port}`;
  await using proxy = await openProxy([grant(host)]);
  for (const method of ["GET", "POST", "DELETE"]) {
    const answer = await proxy.ask(
      `${method} http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n` +
        "3\r\nabc\r\n0\r\n\r\n",
    );
    match(answer, /^HTTP\/1\.1 204 /);
  }
  await serving;
  for (const head of heads) {
    match(head, /\r\ntransfer-encoding: chunked\r\n/i);
    equal(/content-length/i.test(head), false);
    match(head, /\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/);
  }
});

Deno.test("mallory's answers: split heads, smuggled lengths, endless heads, another protocol, an early end", async () => {
  const answers: Readonly<Record<string, string>> = {
    "/two": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "/lengths": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
    "/coding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "/long": `HTTP/1.1 200 OK\r\nX-A: ${"x".repeat(70_000)}\r\n\r\n`,
    "/many": `HTTP/1.1 200 OK\r\n${"X-A: 1\r\n".repeat(300)}\r\n`,
    "/upgrade": "HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "/ssh": "SSH-2.0-OpenSSH_9\r\n",
    "/nothing": "",
  };
  await using site = startSite(({ target }) => raw(answers[target] ?? "HTTP/1.1 200 OK\r\n\r\n"));
  const host = `127.0.0.1:${site.port}`;
  await using proxy = await openProxy([grant(host)]);
  for (const path of Object.keys(answers)) {
    match(await proxy.ask(get(host, path)), /^HTTP\/1\.1 502 /, path);
  }
  // In chunks, so that an end that is none is seen as such.
  await using cut = startSite(({ target }) =>
    raw(
      target === "/chunks"
        ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        : "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
    )
  );
  const there = `127.0.0.1:${cut.port}`;
  await using other = await openProxy([grant(there)]);
  const chunks = await other.ask(get(there, "/chunks"));
  match(chunks, /\r\n3\r\nabc\r\n$/);
  const length = await other.ask(get(there, "/length"));
  match(length, /content-length: 9\r\n[^]*\r\n\r\nabc$/);
});

Deno.test("HEAD and answers of unknown length keep their form; HTTP/1.0 gets no chunks", async () => {
  await using site = startSite(({ method }) =>
    raw(
      method === "HEAD"
        ? "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
        : "HTTP/1.1 200 OK\r\n\r\nopen end",
    )
  );
  const host = `127.0.0.1:${site.port}`;
  await using proxy = await openProxy([grant(host)]);
  const head = await proxy.ask(`HEAD http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  match(head, /content-length: 99\r\n[^]*\r\n\r\n$/);
  match(
    await proxy.ask(get(host)),
    /transfer-encoding: chunked[^]*\r\n8\r\nopen end\r\n0\r\n\r\n$/,
  );
  const old = await proxy.ask(`GET http://${host}/ HTTP/1.0\r\n\r\n`);
  equal(/transfer-encoding/.test(old), false);
  match(old, /\r\n\r\nopen end$/);
});

Deno.test("slow heads, idle tunnels and idle answers are left after their time", async () => {
  await using site = startSite(() => hangAfter("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"));
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const tunnelled = `127.0.0.1:${listener.addr.port}`;
  const host = `127.0.0.1:${site.port}`;
  await using proxy = await openProxy([grant(host), grant(tunnelled)]);
  using slow = await connectTo(proxy.path);
  await slow.write(`GET http://${host}/ HTTP/1.1\r\n`);
  using answered = await connectTo(proxy.path);
  await answered.write(get(host));
  let got = "";
  while (!got.endsWith("abc")) got += await answered.read();
  using idle = await connectTo(proxy.path);
  await idle.write(`CONNECT ${tunnelled} HTTP/1.1\r\nHost: ${tunnelled}\r\n\r\n`);
  match(await idle.read(), / 200 /);
  proxy.clock.turn(15_000);
  equal(await slow.rest(), "");
  await answered.write("x");
  proxy.clock.turn(60_000);
  equal(await answered.rest(), "");
  equal(await idle.rest(), "");
  await site.hungUp;
});

Deno.test("a client that vanishes takes its request with it", async () => {
  await using site = startSite(() => hangAfter(""));
  const host = `127.0.0.1:${site.port}`;
  await using proxy = await openProxy([grant(host)]);
  {
    const came = site.next();
    using client = await connectTo(proxy.path);
    await client.write(get(host));
    await came;
  }
  await site.hungUp;
  equal(proxy.told.at(-1)?.ok, false);
});

Deno.test("32 connections of a proxy at once, and of what is refused no more than 20 are told a second", async () => {
  await using proxy = await openProxy([]);
  const waiting = await Promise.all(Array.from({ length: 32 }, () => connectTo(proxy.path)));
  const more = await proxy.ask("");
  match(more, /^HTTP\/1\.1 503 /);
  for (const client of waiting) {
    await client.write("GET / HTTP/1.1\r\n\r\n");
    match(await client.rest(), /^HTTP\/1\.1 400 /);
    client[Symbol.dispose]();
  }
  equal(proxy.told.length, 20);
  proxy.clock.turn(1_000);
  equal(proxy.told.length, 21);
  equal(proxy.told.at(-1)?.more, 12);
  match(await proxy.ask(get("other.example")), /^HTTP\/1\.1 403 /);
  equal(proxy.told.length, 22);
});

Deno.test("the socket is its owner's alone; closing removes it and ends what is open", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const host = `127.0.0.1:${listener.addr.port}`;
  await using proxy = await openProxy([grant(host)]);
  equal((Deno.statSync(proxy.path).mode ?? 0) & 0o777, 0o600);
  using client = await connectTo(proxy.path);
  await client.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  match(await client.read(), / 200 /);
  using silent = await connectTo(proxy.path);
  await proxy.close();
  equal(await client.rest(), "");
  equal(await silent.rest(), "");
  throws(() => Deno.statSync(proxy.path), Deno.errors.NotFound);
  await rejects(connectTo(proxy.path), Deno.errors.NotFound);
});

Deno.test("a path is one proxy's; one that was left behind is taken over; where none can be, it is said", async () => {
  const folder = await Deno.makeTempDir({ prefix: "remit-proxy-" });
  await using _ = { [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
  const path = `${folder}/p-1`;
  await Deno.writeTextFile(path, "left behind");
  const proxies = makeProxies({
    ...{ resolver: names, exchange: makeExchange(), sockets: makeSockets() },
    clock: { now: () => 0, after: () => () => undefined },
    proxied: () => undefined,
    spend: () => Promise.resolve(0),
  });
  proxies.open({ id: "a", path, allow: [] });
  throws(() => proxies.open({ id: "b", path, allow: [] }), isFault("conflict"));
  throws(() => proxies.open({ id: "a", path: `${path}2`, allow: [] }), isFault("conflict"));
  throws(
    () => proxies.open({ id: "c", path: `${folder}/no/such`, allow: [] }),
    isFault("unavailable"),
  );
  await proxies.close("a");
  await proxies.close("a");
  proxies.open({ id: "b", path, allow: [] });
  await proxies.close("b");
});
