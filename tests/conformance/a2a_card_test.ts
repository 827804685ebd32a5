/** What the kit checks of the card, and that it is what was signed. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateKeyPairSync, sign } from "node:crypto";
import { AgentCard, canonicalizeAgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { makeCard, signCard } from "../../service/peer/card.ts";
import type { Signer } from "../../config/key/person_key_powers.ts";
import { answerCard } from "../../bridges/a2a/serve/server.ts";
import { canonicalJson } from "../../port/canonical.ts";
import { BASE, BINDINGS, type Loose, makeWorld } from "./_a2a_world.ts";
import { CARD_AT } from "./_a2a_card.ts";

const PATH = "/.well-known/agent-card.json";
const CARD = makeCard({
  serve: {
    ...{ name: "Desk", description: "Files and mail.", skills: [] },
    provider: { organization: "alice", url: "https://alice.example/" },
  },
  ...{ url: "https://desk.example", version: "1.2.3", push: false },
});

Deno.test("CARD-DISC-001 the card is where it is looked for, for everybody", async () => {
  const world = makeWorld();
  for (const token of [null, "alice", "mallory"]) {
    const response = await world.raw(PATH, { token });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal((await response.json()).name, "Remit");
  }
  const { status, headers } = await world.raw(PATH, { method: "POST", body: "{}" });
  assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"]);
});

Deno.test("CARD-STRUCT-001 CARD-PROTO-001 CARD-PROTO-002 BIND-FIELD-001 what a card must say is there and is not empty", () => {
  const card: Loose = CARD;
  for (
    const key of [
      ...["name", "description", "version", "capabilities", "skills", "supportedInterfaces"],
      ...["defaultInputModes", "defaultOutputModes"],
    ]
  ) {
    assert.ok(card[key] !== undefined && Object.keys(card[key]).length > 0, key);
  }
  assert.deepEqual(card.supportedInterfaces, [
    { url: "https://desk.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: "https://desk.example/a2a/v1", protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
  ]);
  for (const skill of card.skills) {
    assert.ok(skill.id && skill.name && skill.description && skill.tags.length > 0);
  }
  assert.deepEqual(AgentCard.toJSON(AgentCard.fromJSON(card)), card, "the SDK reads all of it");
});

Deno.test("CARD-CACHE-001 CARD-CACHE-002 CARD-CACHE-003 a card that is known is not sent again", async () => {
  const world = makeWorld();
  const response = await world.raw(PATH);
  const etag = response.headers.get("etag") ?? "";
  assert.match(response.headers.get("cache-control") ?? "", /max-age=\d+/);
  assert.equal(response.headers.get("last-modified"), new Date(CARD_AT).toUTCString());
  const ask = async (headers: Record<string, string>): Promise<readonly [number, string]> => {
    const again = await world.raw(PATH, { headers });
    return [again.status, await again.text()];
  };
  const later = new Date(CARD_AT + 1_000).toUTCString();
  const earlier = new Date(CARD_AT - 1_000).toUTCString();
  const known: readonly Record<string, string>[] = [
    { "if-none-match": etag },
    { "if-none-match": `"x", W/${etag}` },
    { "if-none-match": "*" },
    { "if-modified-since": later },
    { "if-modified-since": new Date(CARD_AT).toUTCString() },
    { "if-none-match": etag, "if-modified-since": earlier },
  ];
  for (const headers of known) assert.deepEqual(await ask(headers), [304, ""]);
  const unknown: readonly Record<string, string>[] = [
    { "if-none-match": '"x"' },
    { "if-none-match": '"x"', "if-modified-since": later },
    { "if-modified-since": earlier },
    { "if-modified-since": "yesterday" },
  ];
  for (const headers of unknown) assert.equal((await ask(headers))[0], 200);
  const head = await world.raw(PATH, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("etag"), await head.text()], [200, etag, ""]);
});

Deno.test("CARD-EXT-002 who is known is shown the extended card", async () => {
  const world = makeWorld();
  for (const binding of BINDINGS) {
    const { value } = await world.ask(binding, "GetExtendedAgentCard");
    assert.equal(value.name, "Remit");
    assert.equal(value.supportedInterfaces[0].url, `${BASE}/a2a`);
  }
});

Deno.test("CARD-SIGN-001 CARD-SIGN-002 CARD-SIGN-003 the bytes that are served carry a signature that the SDK takes, and no other words", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const signer: Signer = {
    key: x,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64url"),
  };
  const { card: text, etag } = signCard(CARD, signer, "https://desk.example");
  const served = await answerCard(
    new Request("http://remit.test/"),
    { card: text, etag, modified: 0 },
  ).text();
  assert.equal(served, text);
  const card: Loose = JSON.parse(served);
  const [{ protected: head, header }] = card.signatures;
  const { alg, kid, typ } = JSON.parse(new TextDecoder().decode(
    Uint8Array.fromBase64(head, { alphabet: "base64url" }),
  ));
  assert.deepEqual([alg, typ], ["EdDSA", "JOSE"]);
  assert.match(kid, /^[\w-]{43}$/);
  const { signatures: _, ...unsigned } = card;
  assert.equal(canonicalizeAgentCard(card), canonicalJson(unsigned), "one canonical form for both");
  const verify = verifyAgentCardSignature(() => Promise.resolve(header.jwk));
  await verify(card);
  for (
    const change of [
      { name: "Desk2" },
      {
        supportedInterfaces: [{ ...card.supportedInterfaces[0], url: "https://evil.example/a2a" }],
      },
      { skills: [...card.skills, { ...card.skills[0], id: "more" }] },
    ]
  ) {
    await assert.rejects(verify({ ...card, ...change }));
  }
});
