import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { Digest } from "../../../contracts/authority/mod.ts";
import { Fault, type FaultCode } from "../../../contracts/base/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { fakePowers } from "../../../cli/_fixture/world.ts";
import { fakeWeights } from "../../../cli/_fixture/gguf.ts";
import { breakingOff, honest, serveWeights } from "../../../cli/_fixture/weights_server.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import { placesOf, preparePlaces } from "../../../launch/disk/places.ts";
import { type PullParts, pullWeights } from "./pull.ts";
import { findWeights, signedText, weightsPath } from "../store.ts";

const WEIGHTS = fakeWeights({ filler: "weights ".repeat(4_000) });
const SHA256 = Digest.parse(sha256Hex(WEIGHTS));

function makeParts(modelKeys: readonly string[] = []): PullParts {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const { disk, models, environment, screen } = powers;
  return { disk, models, environment, screen, places, modelKeys };
}

function entryOf(url: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry {
  return {
    name: "tiny",
    title: "Tiny",
    url,
    about: WEIGHTS.length,
    licence: "MIT",
    why: "for tests",
    ...more,
  };
}

const pull = (parts: PullParts, entry: CatalogueEntry) =>
  pullWeights(parts, entry, new AbortController().signal);

async function refused(
  parts: PullParts,
  entry: CatalogueEntry,
  as: { readonly code: FaultCode; readonly says: RegExp },
): Promise<void> {
  await assert.rejects(pull(parts, entry), (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, as.code, error.message);
    assert.match(error.message, as.says);
    return true;
  });
  assert.equal(findWeights(parts.disk, parts.places, "tiny"), undefined);
}

/** What lies in the store's folder. */
const files = ({ disk, places }: PullParts) => disk.list(places.models);

Deno.test("alice pulls a model: fetched, checked, kept by its digest, unwritable", async () => {
  await using server = serveWeights(honest(WEIGHTS));
  const parts = makeParts();
  const taken = await pull(
    parts,
    entryOf(server.url, { sha256: SHA256, bytes: WEIGHTS.length, dialect: ["hermes"] }),
  );
  assert.equal(taken.sha256, SHA256);
  assert.deepEqual(taken.pinned, { by: "alice", at: "2023-11-14T22:13:20.000Z" });
  assert.deepEqual(taken.dialect, ["hermes"]);
  const path = weightsPath(parts.places, SHA256);
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o400);
  assert.deepEqual(parts.disk.read(path), WEIGHTS);
  assert.deepEqual(files(parts), [`${SHA256}.gguf`, `${SHA256}.json`]);
  await assert.rejects(pull(parts, entryOf(server.url)), /the store has weights of that name/);
});

Deno.test("a pull that broke off goes on from where it was, and asks for the same version", async () => {
  let broken = true;
  const whole = honest(WEIGHTS);
  await using server = serveWeights((request) =>
    broken ? breakingOff(WEIGHTS, 10_000) : whole(request)
  );
  const parts = makeParts();
  const entry = entryOf(server.url, { sha256: SHA256 });
  await refused(parts, entry, { code: "upstream", says: /remit model pull tiny/ });
  assert.equal(parts.models.weights.stat(`${parts.places.models}/.partial-tiny`)?.bytes, 10_000);
  broken = false;
  assert.equal((await pull(parts, entry)).bytes, WEIGHTS.length);
  const again = server.asked.at(-1);
  assert.equal(again?.headers.get("range"), "bytes=10000-");
  assert.equal(again?.headers.get("if-range"), '"v1"');
  assert.deepEqual(files(parts), [`${SHA256}.gguf`, `${SHA256}.json`]);
});

Deno.test("a pull that was killed while it checked does not fetch a file again that it has whole", async () => {
  for (const pinned of [{}, { sha256: SHA256, bytes: WEIGHTS.length }]) {
    await using server = serveWeights((request) =>
      request.headers.has("range")
        ? new Response(null, {
          status: 416,
          headers: { "content-range": `bytes */${WEIGHTS.length}` },
        })
        : honest(WEIGHTS)(request)
    );
    const parts = makeParts();
    const weights = {
      ...parts.models.weights,
      hash: () => Promise.reject(new Error("killed here")),
    };
    const partial = `${parts.places.models}/.partial-tiny`;
    const { disk } = parts;
    const dead = { ...disk, remove: () => undefined };
    const killed = pull(
      { ...parts, disk: dead, models: { ...parts.models, weights } },
      entryOf(server.url, pinned),
    );
    await assert.rejects(killed, /killed here/);
    assert.equal(parts.models.weights.stat(partial)?.bytes, WEIGHTS.length);
    assert.equal((await pull(parts, entryOf(server.url, pinned))).sha256, SHA256);
    assert.equal(server.asked.filter(({ headers }) => !headers.has("range")).length, 1);
    assert.deepEqual(files(parts), [`${SHA256}.gguf`, `${SHA256}.json`]);
  }
});

Deno.test("two pulls of one model at once would have written into one file: the second is refused", async () => {
  const goOn = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  await using server = serveWeights(() => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller): Promise<void> {
        controller.enqueue(WEIGHTS.slice(0, 1_000));
        begun.resolve();
        await goOn.promise;
        controller.enqueue(WEIGHTS.slice(1_000));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-length": String(WEIGHTS.length) } });
  });
  const parts = makeParts();
  const first = pull(parts, entryOf(server.url));
  await begun.promise;
  await refused(parts, entryOf(server.url), { code: "conflict", says: /another pull of it/ });
  goOn.resolve();
  assert.equal((await first).sha256, SHA256);
  assert.equal(server.asked.length, 1);
  assert.deepEqual(files(parts), [`${SHA256}.gguf`, `${SHA256}.json`]);
});

Deno.test("what is another file meanwhile is fetched from its start", async () => {
  let broken = true;
  const whole = honest(WEIGHTS, '"v2"');
  await using server = serveWeights((request) =>
    broken ? breakingOff(new Uint8Array(WEIGHTS.length), 5_000) : whole(request)
  );
  const parts = makeParts();
  await refused(parts, entryOf(server.url), { code: "upstream", says: /Cannot pull "tiny"/ });
  broken = false;
  assert.equal((await pull(parts, entryOf(server.url))).sha256, SHA256);
});

Deno.test("a range that is not the one asked for is not glued on", async () => {
  let step = 0;
  await using server = serveWeights((request) => {
    step += 1;
    if (step === 1) return breakingOff(WEIGHTS, 5_000);
    if (step === 2) {
      return new Response(WEIGHTS.slice(9_000), {
        status: 206,
        headers: { "content-range": `bytes 9000-${WEIGHTS.length - 1}/${WEIGHTS.length}` },
      });
    }
    return honest(WEIGHTS)(request);
  });
  const parts = makeParts();
  await refused(parts, entryOf(server.url), { code: "upstream", says: /Cannot pull/ });
  assert.equal((await pull(parts, entryOf(server.url))).sha256, SHA256);
  assert.equal(server.asked.at(-1)?.headers.get("range"), null);
});

Deno.test("mallory's file of the right size and another digest leaves nothing", async () => {
  const other = WEIGHTS.slice();
  other[other.length - 1] = 0;
  await using server = serveWeights(honest(other));
  const parts = makeParts();
  const entry = entryOf(server.url, { sha256: SHA256, bytes: WEIGHTS.length });
  await refused(parts, entry, { code: "refused", says: /the catalogue says .*\n?.*/ });
  assert.deepEqual(files(parts), []);
});

Deno.test("a file that is shorter or longer than was said is refused before it is read", async () => {
  for (const bytes of [WEIGHTS.length + 1, WEIGHTS.length - 1]) {
    await using server = serveWeights(honest(WEIGHTS));
    const parts = makeParts();
    await refused(parts, entryOf(server.url, { bytes }), { code: "refused", says: /expected/ });
    assert.deepEqual(files(parts), []);
  }
  await using endless = serveWeights(() =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(WEIGHTS.slice()),
      }),
    )
  );
  const parts = makeParts();
  await refused(parts, entryOf(endless.url), { code: "refused", says: /longer than/ });
  assert.deepEqual(files(parts), []);
});

Deno.test("what is no GGUF file is not kept, whatever its length", async () => {
  const page = new TextEncoder().encode("<html>please log in</html>".padEnd(WEIGHTS.length));
  await using server = serveWeights(honest(page));
  const parts = makeParts();
  await refused(parts, entryOf(server.url), {
    code: "refused",
    says: /does not begin with "GGUF"/,
  });
  assert.deepEqual(files(parts), []);
});

Deno.test("redirects are followed to https only, and not for ever", async () => {
  const to = (location: string): Response =>
    new Response(null, { status: 302, headers: { location } });
  for (
    const [location, says] of [
      ["http://mallory.example/weights.gguf", /only https is followed/],
      ["file:///etc/passwd", /only https is followed/],
      ["/weights.gguf", /more than 5 times/],
      ["https://a:b@mallory.example/", /with a password/],
      ["http://[", /to nowhere/],
    ] as const
  ) {
    await using server = serveWeights(() => to(location));
    const parts = makeParts();
    await refused(parts, entryOf(server.url), { code: "refused", says });
    assert.deepEqual(files(parts), []);
  }
  await using server = serveWeights((request) =>
    request.url.endsWith("/there") ? honest(WEIGHTS)(request) : to("/there")
  );
  assert.equal((await pull(makeParts(), entryOf(server.url))).sha256, SHA256);
});

Deno.test("a signature must hold, and be by a key of remit.yaml", async () => {
  await using server = serveWeights(honest(WEIGHTS));
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" });
  const key = Uint8Array.fromBase64(x ?? "", { alphabet: "base64url" }).toHex();
  const text = signedText({ sha256: SHA256, bytes: WEIGHTS.length });
  const value = sign(null, new TextEncoder().encode(text), privateKey).toString("hex");
  const signature = { key, value };
  const wrong = { key, value: value.replace(/^../, (pair) => pair === "00" ? "01" : "00") };

  const trusting = makeParts([key]);
  assert.deepEqual((await pull(trusting, entryOf(server.url, { signature }))).signature, signature);
  const strange = makeParts();
  await refused(strange, entryOf(server.url, { signature }), {
    code: "refused",
    says: new RegExp(`modelKeys: \\[${key}\\]`),
  });
  assert.deepEqual(files(strange), []);
  const lied = makeParts([key]);
  await refused(lied, entryOf(server.url, { signature: wrong }), {
    code: "refused",
    says: /signature is wrong/,
  });
  assert.deepEqual(files(lied), []);
  const before = server.asked.length;
  await refused(makeParts([key]), {
    ...entryOf(server.url, { signature: wrong, sha256: SHA256, bytes: WEIGHTS.length }),
  }, { code: "refused", says: /signature is wrong/ });
  assert.equal(server.asked.length, before, "known to be wrong before a byte is fetched");
});

Deno.test("without a server it says what to do without internet", async () => {
  let url: string;
  {
    await using server = serveWeights(honest(WEIGHTS));
    url = server.url;
  }
  await refused(makeParts(), entryOf(url), {
    code: "upstream",
    says: /without internet: bring the file[^]*remit model add FILE\.gguf --name tiny/,
  });
});

Deno.test("a pull that is cancelled says how it goes on", async () => {
  const abort = new AbortController();
  await using server = serveWeights(() => {
    abort.abort();
    return breakingOff(WEIGHTS, 100);
  });
  await assert.rejects(
    pullWeights(makeParts(), entryOf(server.url), abort.signal),
    (error) =>
      error instanceof Fault && error.code === "cancelled" &&
      error.message.includes("remit model pull tiny"),
  );
});
