import assert from "node:assert/strict";
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import { loginUrl, sameIssuer } from "../../bridges/mcp/registry/login/net.ts";
import { issuerOf, makeKeySets, makePeerDoor, openPeerTokens } from "./credential.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const ISSUER = "https://id.example";
const AUDIENCE = "https://remit.example/a2a";
const auth = { issuer: ISSUER, audience: AUDIENCE, subject: "alice-7" };
const PEERS = {
  alice: { auth: { ...auth, scope: "a2a" } },
  bob: { auth: { ...auth, subject: "bob-8" } },
  carol: {},
};

/** An issuer, its keys, and whose its tokens are; `asked` is what was fetched. */
async function issuer(alg: "ES256" | "EdDSA" | "RS256" = "ES256") {
  const pair = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...await exportJWK(pair.publicKey), kid: "k1", alg };
  const asked: string[] = [];
  const set = { keys: [jwk] as object[] };
  const clock = { now: NOW };
  const person = await Deno.makeTempDir({ prefix: "remit-test-" });
  const tokens = openPeerTokens({ disk: makeDisk(), places: { person } });
  const whose = makePeerDoor({
    ...{ peers: PEERS, tokens, now: () => clock.now },
    keys: makeKeySets({
      now: () => clock.now,
      fetch: {
        ...{ vet: loginUrl, same: sameIssuer },
        get(url) {
          asked.push(url.href);
          return Promise.resolve({
            status: 200,
            json: url.pathname.endsWith("jwks")
              ? set
              : { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` },
          });
        },
      },
    }),
  });
  return { pair, jwk, asked, set, clock, tokens, whose, person };
}

const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: "alice-7",
  scope: "x a2a",
  exp: NOW / 1_000 + 60,
};
const HEAD = { alg: "ES256", typ: "at+jwt", kid: "k1" };
const sign = (key: CryptoKey | Uint8Array, claims: JWTPayload = CLAIMS, head: object = {}) =>
  new SignJWT(claims).setProtectedHeader({ ...HEAD, ...head }).sign(key);

async function withIssuer(
  f: (of: Awaited<ReturnType<typeof issuer>>) => Promise<void>,
  alg?: "ES256" | "EdDSA" | "RS256",
): Promise<void> {
  const of = await issuer(alg);
  try {
    await f(of);
  } finally {
    await Deno.remove(of.person, { recursive: true });
  }
}

Deno.test("a token of the issuer is its subject's, found by the issuer's own metadata, with each algorithm", async () => {
  for (const alg of ["ES256", "EdDSA", "RS256"] as const) {
    await withIssuer(async ({ whose, pair, asked }) => {
      assert.equal((await whose(await sign(pair.privateKey, CLAIMS, { alg })))?.name, "alice");
      const { sub: _alice, ...rest } = CLAIMS;
      const byClient = { ...rest, client_id: "bob-8" };
      assert.equal((await whose(await sign(pair.privateKey, byClient, { alg })))?.name, "bob");
      assert.deepEqual(asked, [
        `${ISSUER}/.well-known/oauth-authorization-server`,
        `${ISSUER}/jwks`,
      ]);
    }, alg);
  }
});

Deno.test("mallory's tokens are nobody's: each is wrong in one thing", async () => {
  await withIssuer(async ({ whose, pair, jwk }) => {
    const own = pair.privateKey;
    const other = await generateKeyPair("ES256", { extractable: true });
    const theirs = await exportJWK(other.publicKey);
    const publicText = new TextEncoder().encode(JSON.stringify(jwk));
    const without = (key: string) =>
      Object.fromEntries(Object.entries(CLAIMS).filter(([name]) => name !== key));
    const good = await sign(own);
    const wrong: Readonly<Record<string, string>> = {
      "alg none": new UnsecuredJWT(CLAIMS).encode(),
      "HS256 under the public key": await sign(publicText, CLAIMS, { alg: "HS256" }),
      "another audience": await sign(own, { ...CLAIMS, aud: "https://other.example" }),
      "another issuer": await sign(own, { ...CLAIMS, iss: "https://id.example/x" }),
      "no audience": await sign(own, without("aud")),
      "expired": await sign(own, { ...CLAIMS, exp: NOW / 1_000 - 31 }),
      "never ends": await sign(own, without("exp")),
      "not yet": await sign(own, { ...CLAIMS, nbf: NOW / 1_000 + 31 }),
      "nobody's subject": await sign(own, { ...CLAIMS, sub: "mallory" }),
      "another sub beside its client": await sign(own, {
        ...CLAIMS,
        sub: "mallory",
        client_id: "alice-7",
      }),
      "no scope": await sign(own, without("scope")),
      "a scope that only begins so": await sign(own, { ...CLAIMS, scope: "a2a-read" }),
      "an id token": await sign(own, CLAIMS, { typ: "JWT" }),
      "its own key in the header": await sign(other.privateKey, CLAIMS, { jwk: theirs }),
      "its own set in the header": await sign(other.privateKey, CLAIMS, {
        jku: "https://mallory.example/jwks",
      }),
      "a path as key id": await sign(other.privateKey, CLAIMS, { kid: "../../k1' or 1=1" }),
      "a critical header": await new SignJWT(CLAIMS)
        .setProtectedHeader({ ...HEAD, crit: ["exp2"], exp2: 1 })
        .sign(own, { crit: { exp2: true } }),
      "a cut signature": good.slice(0, -2),
      "another payload": good.replace(/\.[^.]+\./, `.${btoa('{"iss":"https://id.example"}')}.`),
      "huge": `${good}${"A".repeat(20_000)}`,
      "no JWT": "remit",
      "empty": "",
    };
    for (const [what, token] of Object.entries(wrong)) {
      assert.equal(await whose(token), undefined, what);
    }
    assert.equal((await whose(good))?.name, "alice");
    assert.equal(await whose(null), undefined);
  });
});

Deno.test("a new key is fetched when a token names it, and unknown names fetch at most once a minute", async () => {
  await withIssuer(async ({ whose, pair, asked, set, clock, jwk }) => {
    const next = await generateKeyPair("ES256", { extractable: true });
    const token = await sign(next.privateKey, CLAIMS, { kid: "k2" });
    assert.equal((await whose(await sign(pair.privateKey)))?.name, "alice");
    const fetched = asked.length;
    set.keys = [jwk, { ...await exportJWK(next.publicKey), kid: "k2" }];
    for (let n = 0; n < 50; n++) assert.equal(await whose(token), undefined);
    assert.equal(asked.length, fetched);
    clock.now += 60_001;
    const later = await sign(next.privateKey, { ...CLAIMS, exp: NOW / 1_000 + 600 }, { kid: "k2" });
    assert.equal((await whose(later))?.name, "alice");
    set.keys = [];
    clock.now += 60_001;
    assert.equal((await whose(later))?.name, "alice", "kept keys are good for a while");
  });
});

Deno.test("an issuer that does not answer proves nobody, and metadata of another issuer is not followed", async () => {
  const made = async (json: unknown, status = 200) => {
    const keys = makeKeySets({
      now: () => NOW,
      fetch: { get: () => Promise.resolve({ status, json }), vet: loginUrl, same: sameIssuer },
    });
    return await keys.keys({ issuer: ISSUER }, "k1").then(() => "some", (error) => error.code);
  };
  assert.equal(await made(undefined, 500), "unavailable");
  assert.equal(
    await made({ issuer: "https://evil.example", jwks_uri: `${ISSUER}/jwks` }),
    "unavailable",
  );
  assert.equal(await made({ issuer: ISSUER, jwks_uri: "http://169.254.169.254/keys" }), "refused");
  assert.equal(await made({ issuer: ISSUER, jwks_uri: "file:///etc/passwd" }), "refused");
});

Deno.test("a kept token is its own peer's alone, and of no peer that shows an issuer's", async () => {
  await withIssuer(async ({ whose, tokens }) => {
    const make = (peer: string, id: string) =>
      tokens.create(
        { id, name: id, peer: peer as never, createdAt: 1 },
        id.repeat(43).slice(0, 43),
      );
    assert.equal((await whose(make("carol", "a")))?.name, "carol");
    assert.equal(await whose(make("alice", "b")), undefined);
    assert.equal(await whose(make("nobody", "c")), undefined);
    assert.equal(await whose(`remit_a2a_${"d".repeat(43)}`), undefined);
    tokens.revoke("a");
    assert.equal(await whose(`remit_a2a_${"a".repeat(43)}`), undefined);
  });
});

Deno.test("what is no JWT has no issuer", () => {
  assert.equal(issuerOf("a.b.c"), undefined);
  assert.equal(issuerOf(`${btoa('{"alg":"ES256"}')}.${btoa("[]")}.x`), undefined);
});
