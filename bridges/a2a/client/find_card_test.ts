import assert from "node:assert/strict";
import { canonicalizeAgentCard } from "@a2a-js/sdk";
import { hostilePeer, plainCard } from "../_fixture/hostile_peer.ts";
import { faultOf, openPeer } from "../_fixture/peer_bridge.ts";

const { subtle } = crypto;
const text = new TextEncoder();
const url64 = (bytes: Uint8Array<ArrayBuffer>): string =>
  bytes.toBase64({ alphabet: "base64url", omitPadding: true });
const encoded = (value: unknown): string => url64(text.encode(JSON.stringify(value)));

interface Signer {
  readonly alg: "EdDSA" | "ES256";
  readonly kid: string;
  readonly jwk: Readonly<Record<string, string>>;
  sign(data: Uint8Array<ArrayBuffer>): Promise<string>;
}

async function makeSigner(alg: Signer["alg"]): Promise<Signer> {
  const made = alg === "EdDSA"
    ? await subtle.generateKey("Ed25519", true, ["sign", "verify"])
    : await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  assert.ok("publicKey" in made);
  const { kty = "", crv = "", x = "", y } = await subtle.exportKey("jwk", made.publicKey);
  const jwk = { crv, kty, x, ...(y === undefined ? {} : { y }) };
  const kid = url64(
    new Uint8Array(await subtle.digest("SHA-256", text.encode(JSON.stringify(jwk)))),
  );
  const how = alg === "EdDSA" ? "Ed25519" : { name: "ECDSA", hash: "SHA-256" };
  return {
    ...{ alg, kid, jwk },
    sign: async (data) => url64(new Uint8Array(await subtle.sign(how, made.privateKey, data))),
  };
}

async function signature(
  card: object,
  signer: Signer,
  more: object = {},
  header?: object,
): Promise<object> {
  const head = encoded({ alg: signer.alg, kid: signer.kid, typ: "JOSE", ...more });
  const payload = url64(
    text.encode(canonicalizeAgentCard(card as Parameters<typeof canonicalizeAgentCard>[0])),
  );
  return {
    protected: head,
    signature: await signer.sign(text.encode(`${head}.${payload}`)),
    ...(header === undefined ? {} : { header }),
  };
}

/** The keys that a look at this card pins, or the fault. */
async function keysOf(
  make: (url: string) => Promise<object>,
  keys: readonly object[] = [],
): Promise<{ readonly found: string; readonly notes: string; readonly asked: readonly string[] }> {
  let card: object = {};
  await using peer = hostilePeer({
    card: () => card,
    answer: ({ path }) =>
      path === "/jwks" ? Response.json({ keys }) : new Response("", { status: 404 }),
  });
  card = await make(peer.url);
  const asked = (): string[] => peer.seen.map(({ line }) => line);
  let notes = "";
  const found = await (async (): Promise<string> => {
    await using bridge = await openPeer(peer.url);
    const words = await bridge.words();
    notes = words.left.join("\n");
    return words.peer.keys.join();
  })().catch((error) => faultOf(Promise.reject(error)));
  return { found, notes, asked: asked() };
}

for (const alg of ["EdDSA", "ES256"] as const) {
  Deno.test(`alice pins the key that signed a card, published or carried along (${alg})`, async () => {
    const signer = await makeSigner(alg);
    const jwks = [{ ...signer.jwk, kid: signer.kid }];
    const published = await keysOf(async (url) => {
      const card = plainCard(url);
      return { ...card, signatures: [await signature(card, signer, { jku: `${url}/jwks` })] };
    }, jwks);
    assert.equal(published.found, signer.kid);
    const carried = await keysOf(async (url) => {
      const card = plainCard(url);
      return { ...card, signatures: [await signature(card, signer, {}, { jwk: signer.jwk })] };
    });
    assert.equal(carried.found, signer.kid);
  });
}

Deno.test("mallory changes a signed card, signs with another key or takes keys from elsewhere: she is found out", async () => {
  const alice = await makeSigner("EdDSA"), mallory = await makeSigner("EdDSA");
  const jwks = [{ ...alice.jwk, kid: alice.kid }];
  const changed = await keysOf(async (url) => {
    const card = plainCard(url);
    const signatures = [await signature(card, alice, { jku: `${url}/jwks` })];
    return { ...card, description: "Another agent.", signatures };
  }, jwks);
  assert.match(changed.found, /does not verify/);
  const forged = await keysOf(async (url) => {
    const card = plainCard(url);
    const as = { ...mallory, kid: alice.kid };
    return { ...card, signatures: [await signature(card, as, { jku: `${url}/jwks` })] };
  }, jwks);
  assert.match(forged.found, /does not verify/);
  const far = await keysOf(async (url) => {
    const card = plainCard(url);
    return {
      ...card,
      signatures: [await signature(card, mallory, { jku: "http://127.0.0.1:9/jwks" })],
    };
  });
  assert.equal(far.found, "");
  assert.match(far.notes, /do not lie at its own origin/);
  // Nobody was asked but the card's own place.
  assert.deepEqual([...new Set(far.asked)], ["GET /.well-known/agent-card.json"]);
  const strange = await keysOf((url) =>
    Promise.resolve({
      ...plainCard(url),
      signatures: [
        { protected: encoded({ alg: "none", kid: "x" }), signature: "" },
        { protected: encoded({ alg: "EdDSA", kid: "x", crit: ["y"] }), signature: "AA" },
        { protected: "!", signature: 5 },
        7,
      ],
    })
  );
  assert.equal(strange.found, "");
  assert.equal(strange.notes.split("\n").length, 4);
});
