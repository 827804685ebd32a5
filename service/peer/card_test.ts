import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { canonicalJson } from "../../port/mod.ts";
import { makeKeyFile, openKey } from "../../config/key/person_key_powers.ts";
import { detachedJws, keyId, keySetText, makeCard, signCard, skillsFor } from "./card.ts";

const URL_ = "http://127.0.0.1:7433";
const SKILLS = [
  { id: "sums", name: "Sums", description: "Adds." },
  { id: "tides", name: "Tides", description: "Knows tides.", agent: "sailor", tags: ["sea"] },
];
const parts = { url: URL_, version: "1.2.3", push: false };

/** Checks a JWS with another implementation's key. */
function holds(x: string, head: string, payload: string, signature: string): boolean {
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const text = `${head}.${Buffer.from(payload).toString("base64url")}`;
  return verify(null, Buffer.from(text), key, Buffer.from(signature, "base64url"));
}

Deno.test("a card's signature covers every word of it and names its key", () => {
  const signer = openKey(makeKeyFile());
  const { card, etag } = signCard(makeCard({ ...parts, serve: { skills: SKILLS } }), signer, URL_);
  const { signatures: [one], ...rest } = JSON.parse(card);
  assert.ok(holds(signer.key, one.protected, canonicalJson(rest), one.signature));
  const changed = canonicalJson({ ...rest, description: "Someone else." });
  assert.ok(!holds(signer.key, one.protected, changed, one.signature));
  const head = JSON.parse(Buffer.from(one.protected, "base64url").toString());
  assert.deepEqual(head, {
    ...{ alg: "EdDSA", typ: "JOSE", kid: keyId(signer.key) },
    jku: `${URL_}/.well-known/jwks.json`,
  });
  assert.equal(JSON.parse(keySetText(signer.key)).keys[0].kid, head.kid);
  assert.deepEqual(one.header.jwk, { crv: "Ed25519", kty: "OKP", x: signer.key });
  assert.match(etag, /^"[0-9a-f]{32}"$/);
});

Deno.test("no value of a card is empty: a codec that leaves such out signs the same bytes", () => {
  const serve = { provider: { organization: "Alice", url: "" }, skills: SKILLS };
  const text = canonicalJson(makeCard({ ...parts, serve }));
  assert.ok(!/:""|:\[\]|:\{\}|:null/.test(text), text);
  assert.equal(makeCard({ ...parts, serve: {} })["skills"] instanceof Array, true);
});

Deno.test("a peer's card shows its own skills, else those of its agent", () => {
  const ids = (peer?: Parameters<typeof skillsFor>[1]) =>
    skillsFor({ skills: SKILLS }, peer).map(({ id }) => id);
  assert.deepEqual(ids(), ["sums", "tides"]);
  assert.deepEqual(ids({}), ["sums"]);
  assert.deepEqual(ids({ agent: "sailor" }), ["sums", "tides"]);
  assert.deepEqual(ids({ skills: ["tides"] }), ["tides"]);
  assert.deepEqual(skillsFor({}, undefined).map(({ id }) => id), ["ask"]);
});

Deno.test("a delivery's signature is detached and covers its body", () => {
  const signer = openKey(makeKeyFile());
  const [head = "", none, signature = ""] = detachedJws("body", signer).split(".");
  assert.equal(none, "");
  assert.ok(holds(signer.key, head, "body", signature));
  assert.ok(!holds(signer.key, head, "body ", signature));
});
