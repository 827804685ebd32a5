/** A site that wants to be in the way: every answer here is written byte by byte. */
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { isFault, makeHandClock, makeInService, named, textOf } from "./_fixture/parts.ts";
import { hangAfter, raw, redirect, type Reply, reply, startSite } from "./_fixture/site.ts";
import type { NetRequest } from "../contracts/wire/wire_net.ts";

async function ask(answer: Reply, more: Partial<NetRequest> = {}) {
  await using site = startSite(() => answer);
  const request = { url: `${site.origin}/`, allow: named(site.origin), ...more };
  return await makeInService().ask(request);
}

Deno.test("gzip, deflate with and without its wrapper, and br are read; two of them, too", async () => {
  const text = "umlaute: äöü ".repeat(100);
  const bytes = new TextEncoder().encode(text);
  const bodies: readonly (readonly [string, Uint8Array])[] = [
    ["gzip", gzipSync(bytes)],
    ["x-gzip", gzipSync(bytes)],
    ["deflate", deflateSync(bytes)],
    ["deflate", deflateRawSync(bytes)],
    ["br", brotliCompressSync(bytes)],
    ["gzip, br", brotliCompressSync(gzipSync(bytes))],
    ["identity", bytes],
  ];
  for (const [coding, body] of bodies) {
    const got = await ask(reply(200, { "content-encoding": coding }, body));
    equal(textOf(got), text, coding);
    equal(got.bytes, bytes.length);
  }
});

Deno.test("a bomb is cut at the limit, in every coding, with little memory", async () => {
  const zeros = new Uint8Array(32 * 1024 * 1024);
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
  const bombs: readonly (readonly [string, Uint8Array])[] = [
    ["gzip", gzipSync(zeros)],
    ["br", brotliCompressSync(zeros, quick)],
    ["gzip, gzip", gzipSync(gzipSync(zeros))],
    ["br, br", brotliCompressSync(brotliCompressSync(zeros, quick))],
  ];
  const before = Deno.memoryUsage().rss;
  for (const [coding, body] of bombs) {
    const got = await ask(reply(200, { "content-encoding": coding }, body), {
      responseBytes: 1_000,
    });
    deepEqual([got.bytes, got.cut], [1_000, true], coding);
  }
  const grown = Deno.memoryUsage().rss - before;
  ok(grown < 24 * 1024 * 1024, `${grown} bytes`);
});

Deno.test("a compressed body that never becomes anything is cut by what it takes on the wire", async () => {
  const empty = gzipSync(new Uint8Array(0));
  const answer: Reply = async (write) => {
    await write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n");
    for (;;) await write(empty);
  };
  const got = await ask(answer, { responseBytes: 1_000 });
  deepEqual([got.bytes, got.cut], [0, true]);
});

Deno.test("an endless body is cut, and the connection is let go", async () => {
  const chunk = "x".repeat(10_000);
  const answer: Reply = async (write) => {
    await write("HTTP/1.1 200 OK\r\n\r\n");
    for (;;) await write(chunk);
  };
  await using site = startSite(() => answer);
  const got = await makeInService().ask({ url: `${site.origin}/`, allow: named(site.origin) });
  deepEqual([got.bytes, got.cut], [100_000, true]);
  await site.hungUp;
});

Deno.test("a body of exactly the limit is not cut, and one byte more is", async () => {
  const exact = await ask(reply(200, {}, "x".repeat(50)), { responseBytes: 50 });
  deepEqual([exact.bytes, exact.cut], [50, false]);
  const over = await ask(reply(200, {}, "x".repeat(51)), { responseBytes: 50 });
  deepEqual([over.bytes, over.cut], [50, true]);
});

const HEAD = "HTTP/1.1 200 OK\r\n";
const SILENT: readonly (readonly [string, string])[] = [
  ["no head", ""],
  ["half a head", "HTTP/1.1 200 OK\r\nx-a: "],
  ["early hints and no more", "HTTP/1.1 103 Early\r\nlink: x\r\n\r\n"],
  ["no body", `${HEAD}content-length: 5\r\n\r\n`],
  ["half a body", `${HEAD}content-length: 50\r\n\r\nhello`],
  ["half a chunk", `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhel`],
  ["half a compressed body", `${HEAD}content-encoding: gzip\r\n\r\n\x1f`],
];
for (const [what, bytes] of SILENT) {
  Deno.test(`a site that falls silent after ${what} ends at the deadline, or at a cancel`, async () => {
    await using site = startSite(() => hangAfter(bytes));
    const clock = makeHandClock();
    const service = makeInService({ clock });
    const request = { url: `${site.origin}/`, allow: named(site.origin) };
    const late = service.ask({ ...request, id: "late", deadlineMs: 1_000 });
    await site.next();
    clock.turn(999);
    clock.turn(1);
    await rejects(late, isFault("timedOut", "1000 ms"));
    const cancelled = service.ask({ ...request, id: "c" });
    await site.next();
    service.cancel("c");
    await rejects(cancelled, isFault("cancelled"));
    await site.hungUp;
  });
}

const BROKEN: readonly (readonly [string, string, Parameters<typeof isFault>[0]])[] = [
  ["nothing at all", "", "upstream"],
  ["no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", "upstream"],
  ["HTTP/0.9", "hello", "upstream"],
  ["a body that ends early", `${HEAD}content-length: 50\r\n\r\nhello`, "upstream"],
  ["a chunk that ends early", `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhel`, "upstream"],
  ["a wrong chunk size", `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\nhel`, "upstream"],
  [
    "two lengths",
    `${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`,
    "upstream",
  ],
  [
    "a length and chunks",
    `${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    "upstream",
  ],
  ["a negative length", `${HEAD}content-length: -1\r\n\r\nhello`, "upstream"],
  [
    "a change of protocol",
    "HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    "upstream",
  ],
  ["an unknown compression", `${HEAD}content-encoding: zstd\r\n\r\nhello`, "upstream"],
  ["three compressions", `${HEAD}content-encoding: br, br, br\r\n\r\nhello`, "upstream"],
  ["no gzip where it says so", `${HEAD}content-encoding: gzip\r\n\r\nhello`, "upstream"],
  ["no br where it says so", `${HEAD}content-encoding: br\r\n\r\n\xff\xff\xff\xff`, "upstream"],
  ["gzip that ends early", `${HEAD}content-encoding: gzip\r\n\r\n\x1f\x8b\x08`, "upstream"],
  ["one huge header", `${HEAD}x-a: ${"b".repeat(200_000)}\r\n\r\n`, "tooLarge"],
  ["a header without end", `${HEAD}${"x-a: b\r\n".repeat(50_000)}`, "tooLarge"],
  ["three hundred headers", `${HEAD}${"x-a: b\r\n".repeat(300)}\r\nhello`, "tooLarge"],
];
for (const [what, bytes, code] of BROKEN) {
  Deno.test(`a site that sends ${what} ends in the fault ${code}, and the next request works`, async () => {
    const latin = Uint8Array.from(bytes, (c) => c.charCodeAt(0));
    let first = true;
    await using site = startSite(() => {
      if (!first) return reply(200, {}, "fine");
      first = false;
      return (write) => write(latin);
    });
    const service = makeInService();
    const request = { url: `${site.origin}/`, allow: named(site.origin) };
    await rejects(service.ask(request), isFault(code));
    equal(textOf(await service.ask(request)), "fine");
  });
}

Deno.test("a redirect loop, a chain without end and a wrong number end where they should", async () => {
  let count = 0;
  await using site = startSite(({ target }) =>
    redirect(302, target === "/loop" ? "/loop" : `/${count++}`)
  );
  const allow = named(site.origin);
  const service = makeInService();
  const loop = await service.ask({ url: `${site.origin}/loop`, allow, redirects: 3 });
  equal(loop.hops.length, 4);
  match(loop.stopped?.why ?? "", /too many/);
  const chain = await service.ask({ url: `${site.origin}/x`, allow, redirects: 1_000 });
  equal(chain.hops.length, 21);
  const none = await service.ask({ url: `${site.origin}/x`, allow, redirects: 0 });
  deepEqual([none.hops.length, none.status], [1, 302]);
});

Deno.test("a redirect's own endless body is not read", async () => {
  const endless: Reply = async (write) => {
    await write("HTTP/1.1 302 Found\r\nlocation: /there\r\n\r\n");
    for (;;) await write("x".repeat(10_000));
  };
  await using site = startSite(({ target }) => target === "/" ? endless : reply(200, {}, "there"));
  const got = await makeInService().ask({ url: `${site.origin}/`, allow: named(site.origin) });
  equal(textOf(got), "there");
  await site.hungUp;
});

Deno.test("HEAD and 204 have no body, whatever their headers say; cookies are not told", async () => {
  const head = await ask(
    raw(`${HEAD}content-length: 500\r\ncontent-encoding: gzip\r\nset-cookie: a=b\r\n\r\n`),
    { method: "HEAD" },
  );
  deepEqual([head.bytes, head.headers["set-cookie"], head.headers["content-length"]], [
    0,
    undefined,
    "500",
  ]);
  const none = await ask(raw("HTTP/1.1 204 No\r\n\r\n"));
  deepEqual([none.status, none.bytes], [204, 0]);
});

Deno.test("headers named for prototypes are plain data", async () => {
  const got = await ask(reply(200, { "__proto__": "a", "constructor": "b" }, ""));
  equal(Object.getPrototypeOf(got.headers), Object.prototype);
  equal(Object.hasOwn(got.headers, "constructor"), true);
});

Deno.test("where nothing listens a request is unavailable", async () => {
  const site = startSite(() => raw("no"));
  const { origin } = site;
  await site[Symbol.asyncDispose]();
  await rejects(
    makeInService().ask({ url: `${origin}/`, allow: named(origin) }),
    isFault("unavailable"),
  );
});
