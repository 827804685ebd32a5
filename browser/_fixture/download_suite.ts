/** For every engine of the browser tools: no download of a page is saved. @module */
import { doesNotMatch, equal, match, ok, rejects } from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { raw, redirect, type Reply, reply } from "../../net/_fixture/site.ts";
import type { RegisterTest } from "./contract_suite.ts";
import type { StartEngine } from "./engine.ts";
import { startWeb } from "./web.ts";

const CSV = { "content-type": "text/csv" };
/** The first bytes of a picture, and of an archive. */
const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0xff);
const ZIP = Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 8, 0);

/** Chunks for as long as the client reads, without a content length. */
const endless: Reply = async (write) => {
  await write("HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ntransfer-encoding: chunked\r\n\r\n");
  const chunk = `8000\r\n${"x,y\n".repeat(8_192)}\r\n`;
  for (;;) await write(chunk);
};

/** Some kilobytes that unpack to 64 MB. */
async function bomb(): Promise<Reply> {
  const plain = new Blob(Array.from({ length: 64 }, () => "x".repeat(1_000_000))).stream();
  const packed = await new Response(plain.pipeThrough(new CompressionStream("gzip"))).bytes();
  ok(packed.length < 200_000);
  return reply(200, { ...CSV, "content-encoding": "gzip" }, packed);
}

/** Registers the claims for one engine. */
export function testDownloads(name: string, start: StartEngine, register: RegisterTest): void {
  register(
    `${name}: mallory's site answers a download with something else: nothing is saved`,
    async () => {
      const hostile: Readonly<Record<string, readonly [Reply, RegExp]>> = {
        "/endless": [
          endless,
          /more than 1000000 bytes; the rest was not read and nothing was saved/,
        ],
        "/bomb": [await bomb(), /more than 1000000 bytes|cannot be unpacked|too much/],
        "/shorter": [
          raw("HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: 500000\r\n\r\na,b\n"),
          /./,
        ],
        "/two-lengths": [
          raw(
            "HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: 4\r\ncontent-length: 9\r\n\r\na,b\nmore\n",
          ),
          /./,
        ],
        "/picture.csv": [reply(200, CSV, PNG), /not UTF-8 text \(text\/csv\)/],
        "/archive.csv": [reply(200, CSV, ZIP), /not UTF-8 text \(text\/csv\)/],
        "/archive": [reply(200, { "content-type": "" }, ZIP), /not UTF-8 text/],
        "/escapes": [reply(200, { "content-type": "text/csv\u001b[2J" }, "a,b\n"), /not HTTP/],
        "/refused": [reply(500, CSV, "a,b\n"), /the server says 500/],
        "/metadata": [
          redirect(302, "http://169.254.169.254/latest/meta-data/"),
          /leads to "http:\/\/169\.254\.169\.254\/latest\/meta-data\/", which was not followed/,
        ],
        "/neighbour": [redirect(307, "http://127.0.0.1:1/x"), /which was not followed/],
        "/file": [redirect(301, "file:///etc/passwd"), /./],
        "/loop": [redirect(302, "/loop"), /./],
      };
      const pages = Object.fromEntries(Object.entries(hostile).map(([at, [page]]) => [at, page]));
      await using web = await startWeb(start, pages);
      for (const [at, [, says]] of Object.entries(hostile)) {
        const args = { url: `${web.origin}${at}`, path: "scratch/data.csv" };
        await rejects(web.call("browser_download", args), (error) => {
          ok(error instanceof Fault, `${at}: ${String(error)}`);
          match(error.message, says, at);
          doesNotMatch(error.message, /root:|x,y/, at);
          return true;
        }, at);
        equal(web.written.size, 0, at);
      }
      ok(web.site.seen.filter(({ target }) => target === "/loop").length < 10);
    },
  );

  register(
    `${name}: mallory names the file of a download: it lies where the call said, and says what it is`,
    async () => {
      const named = reply(200, {
        "content-type": "text/csv; name=../../x",
        "content-disposition": 'attachment; filename="../../../plans/trip.txt"',
        "content-location": "/etc/passwd",
        link: '</other>; rel="canonical"',
      }, "a,b\n");
      await using web = await startWeb(start, { "/../../x": named, "/x": named });
      const saved = await web.call("browser_download", {
        ...{ url: `${web.origin}/x`, path: "scratch/x.csv" },
      });
      match(saved, /^saved scratch\/x\.csv: 4 characters \(text\/csv\) from http:.*\/x; untrusted/);
      doesNotMatch(saved, /plans|passwd/);
      equal([...web.written].join(), "scratch/x.csv,a,b\n");
      for (
        const path of ["plans/trip.txt", "/etc/passwd", "../scratch/x", "SCRATCH/x", "scratch"]
      ) {
        await rejects(
          web.call("browser_download", { url: `${web.origin}/x`, path }),
          /has to begin with scratch\//,
        );
      }
      equal(web.written.size, 1);
      equal(web.site.seen.length, 1, "nothing was fetched for a path that is none");
    },
  );

  register(`${name}: a download whose body is longer than it says is what it says`, async () => {
    const longer = raw(
      "HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: 4\r\n\r\na,b\nHTTP/1.1 200 OK\r\n\r\nsmuggled",
    );
    await using web = await startWeb(start, { "/x": longer });
    await web.call("browser_download", { url: `${web.origin}/x`, path: "scratch/x.csv" });
    equal(web.written.get("scratch/x.csv"), "a,b\n");
  });
}
