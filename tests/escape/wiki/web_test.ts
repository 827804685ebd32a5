/**
 * mallory's server answers `wiki ingest URL`. A redirect into alice's own network or to a file would be taken in for
 * her, an answer without end would fill memory or wait for ever, and a kind that is not what it says would be parsed.
 */
import assert from "node:assert/strict";
import { onMachine } from "../../fake/remit.ts";
import { makeWiki, TERMINAL_CONTROL } from "../../fake/wikis.ts";

const MiB = 1024 * 1024;

function endless(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536).fill(97)) });
}

/** Packed 1,000 to 1, and without end. */
function bomb(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return endless().pipeThrough(new CompressionStream("gzip"));
}

function answer(path: string, other: number): Response {
  const to = (location: string) => new Response(null, { status: 302, headers: { location } });
  const as = (type: string, body: BodyInit, more = {}) =>
    new Response(body, { headers: { "content-type": type, ...more } });
  switch (path) {
    case "/private":
      return to("http://10.0.0.1/");
    case "/meta":
      return to("http://169.254.169.254/latest/meta-data");
    case "/other":
      return to(`http://127.0.0.1:${other}/secret`);
    case "/named":
      return to(`http://localhost:${other}/secret`);
    case "/file":
      return to("file:///etc/passwd");
    case "/round":
      return to("/round");
    case "/huge":
      return as("text/plain", new Uint8Array(40 * MiB));
    case "/endless":
      return as("text/plain", endless());
    case "/bomb":
      return as("text/plain", bomb(), { "content-encoding": "gzip" });
    case "/program":
      return as("application/octet-stream", "\x7fELF");
    case "/lying":
      return as("text/plain", new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0]));
    default:
      return as("text/markdown", "# Numbat \x1b[2J\n\nA numbat is an animal.\n");
  }
}

const REFUSED: Readonly<Record<string, RegExp>> = {
  private: /leads to "http:\/\/10\.0\.0\.1\/", another site, which is not followed/,
  meta: /leads to "http:\/\/169\.254\.169\.254\/.*another site, which is not followed/,
  other: /leads to "http:\/\/127\.0\.0\.1:\d+\/secret", another site, which is not followed/,
  named: /leads to "http:\/\/localhost:\d+\/secret", another site, which is not followed/,
  file: /leads to "file:\/\/\/etc\/passwd"/,
  round: /too many redirects/,
  huge: /longer than \d+ bytes/,
  endless: /longer than \d+ bytes/,
  bomb: /longer than \d+ bytes/,
  program: /which is no document/,
  lying: /binary, not text/,
};

Deno.test("mallory's server gives alice's wiki one RED, public document, and nothing else that it tries", () =>
  onMachine(async (machine) => {
    let secrets = 0;
    const quiet = { port: 0, hostname: "127.0.0.1", onListen: () => undefined };
    await using inner = Deno.serve(quiet, () => {
      secrets++;
      return new Response("The inner word is zebu.");
    });
    await using server = Deno.serve(
      quiet,
      (request) => answer(new URL(request.url).pathname, inner.addr.port),
    );
    const wiki = await makeWiki(machine);
    const from = `http://127.0.0.1:${server.addr.port}`;
    await Promise.all(
      Object.entries(REFUSED).map(async ([path, why]) => {
        const { code, stderr } = await wiki.ask("ingest", `${from}/${path}`);
        assert.ok(code !== 0, path);
        assert.match(stderr, why, path);
      }),
    );
    assert.equal(secrets, 0);
    await wiki.must("ingest", `${from}/numbat.md`);
    const { hits } = await wiki.json("query", "what is a numbat?", "--within", "sources");
    assert.deepEqual(
      hits.map((hit: Record<string, unknown>) => [hit["origin"], hit["colour"], hit["label"]]),
      [[`${from}/numbat.md`, "RED", "public"]],
    );
    const status = await wiki.must("status");
    assert.match(status.stdout, /^sources {3}1 in/m);
    assert.doesNotMatch(status.stdout.replaceAll("\n", ""), TERMINAL_CONTROL);
  }));
