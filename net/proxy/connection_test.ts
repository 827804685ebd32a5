import { deepEqual, equal, rejects } from "node:assert/strict";
import { isFault } from "../_fixture/parts.ts";
import { makeProxyReader, PROXY_HEAD_BYTES, type ProxyReader } from "./connection.ts";

/** A reader of these parts, each of which comes by itself. */
function reading(...parts: readonly string[]): ProxyReader {
  const left = parts.map((part) => Uint8Array.from(part, (unit) => unit.charCodeAt(0)));
  return makeProxyReader({
    read(buffer) {
      const next = left.shift();
      if (next === undefined) return Promise.resolve(null);
      const length = Math.min(next.length, buffer.length);
      buffer.set(next.subarray(0, length));
      if (next.length > length) left.unshift(next.subarray(length));
      return Promise.resolve(length);
    },
  }, () => undefined);
}

async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
  let all = "";
  for await (const bytes of body) all += String.fromCharCode(...bytes);
  return all;
}

const HEAD = "GET / HTTP/1.1\r\nA: b\r\n\r\n";
const CHUNKED = { kind: "chunked" } as const;
const chunked = (...parts: readonly string[]): Promise<string> =>
  text(reading(...parts).body(CHUNKED));

Deno.test("a head is found however it is cut, and what follows it stays", async () => {
  for (let cut = 1; cut < HEAD.length; cut++) {
    const reader = reading(HEAD.slice(0, cut), `${HEAD.slice(cut)}rest`);
    equal(await reader.head(), "GET / HTTP/1.1\r\nA: b");
    equal(await text(reader.body({ kind: "length", length: 2 })), "re");
    equal(String.fromCharCode(...reader.rest()), "st");
  }
  const slow = reading(...HEAD);
  equal(await slow.head(), "GET / HTTP/1.1\r\nA: b");
  equal(await reading().head(), undefined);
});

Deno.test("heads that end early, are too long, or break their lines otherwise are refused", async () => {
  await rejects(reading("GET / HTTP/1.1\r\n").head(), isFault("invalidInput", "ended within"));
  await rejects(reading("x".repeat(PROXY_HEAD_BYTES + 1)).head(), isFault("invalidInput", "long"));
  const long = `${"x".repeat(PROXY_HEAD_BYTES)}y\r\n\r\n`;
  await rejects(reading(long).head(), isFault("invalidInput", "long"));
  for (const bad of ["a\nb\r\n\r\n", "a\rb\r\n\r\n", "a\0\r\n\r\n", "a\n\n\r\n\r\n"]) {
    await rejects(reading(bad).head(), isFault("invalidInput", "does not read"));
  }
  // Line feeds alone never end a head.
  await rejects(reading("GET / HTTP/1.1\n\n").head(), isFault("invalidInput", "ended within"));
});

Deno.test("a body of a length is exactly so long", async () => {
  equal(await text(reading("ab", "cd").body({ kind: "length", length: 3 })), "abc");
  equal(await text(reading("ab").body({ kind: "none" })), "");
  await rejects(
    text(reading("ab").body({ kind: "length", length: 3 })),
    isFault("invalidInput", "ended early"),
  );
});

Deno.test("chunks are read to the last one, however they are cut", async () => {
  const whole = "4\r\nWiki\r\nA\r\n0123456789\r\n0\r\n\r\n";
  for (let cut = 1; cut < whole.length; cut++) {
    equal(await chunked(whole.slice(0, cut), whole.slice(cut)), "Wiki0123456789");
  }
  equal(await chunked(...whole), "Wiki0123456789");
  const reader = reading(`${whole}GET`);
  equal(await text(reader.body(CHUNKED)), "Wiki0123456789");
  equal(String.fromCharCode(...reader.rest()), "GET");
});

Deno.test("mallory's chunks that others would read otherwise are refused", async () => {
  const bad = [
    ...["4;a=b\r\nWiki\r\n0\r\n\r\n", "4 \r\nWiki\r\n0\r\n\r\n", " 4\r\nWiki\r\n0\r\n\r\n"],
    ...["0x4\r\nWiki\r\n0\r\n\r\n", "+4\r\nWiki\r\n0\r\n\r\n", "\r\nWiki\r\n", "-1\r\n\r\n"],
    ...["4\nWiki\n0\n\n", "4\r\nWikiX\r\n0\r\n\r\n", "4\r\nWik\r\n0\r\n\r\n", "g\r\n\r\n"],
    ...["00000004\r\nWiki\r\n0\r\n\r\n", "ffffffffffffffff\r\n", "4\r\nWiki\r\n0\r\nX: 1\r\n\r\n"],
    ...["4\r\nWiki\r\n0\r\n\n", "4\r\nWiki\r\n0\r\n", "4\r\nWi", "4"],
  ];
  for (const each of bad) {
    await rejects(chunked(each), isFault("invalidInput"), JSON.stringify(each));
  }
  deepEqual(await chunked("0\r\n\r\n"), "");
});
