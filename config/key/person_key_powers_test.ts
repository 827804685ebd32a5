import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import { Answer } from "../../contracts/authority/mod.ts";
import { Fault, type FaultCode } from "../../contracts/base/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { toJson } from "../../contracts/base/mod.ts";
import { fakePowers } from "../../cli/_fixture/world.ts";
import { question } from "../../cli/_fixture/samples.ts";
import { openKeyRing } from "./ring.ts";
import { makeKeyFile, openKey, parseKeyFile } from "./person_key_powers.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";
import { signAnswer } from "../../cli/question/sign_answer.ts";

const fault = (code: FaultCode) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;
const publicKey = (x: string): ReturnType<typeof createPublicKey> =>
  createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });

Deno.test("a signed answer verifies with the public key, over everything but the signature", () => {
  const signer = openKey(makeKeyFile());
  const asked = question();
  const answer = Answer.parse(signAnswer(asked, {
    decision: "allow",
    for: "once",
    say: "fine",
    by: "terminal",
    channel: "terminal",
  }, { signer, at: 5 }));
  const { signature, ...unsigned } = answer;
  const holds = (body: object): boolean =>
    verify(
      null,
      new TextEncoder().encode(canonicalJson(toJson(body))),
      publicKey(answer.key),
      Uint8Array.fromBase64(signature, { alphabet: "base64url" }),
    );
  assert.equal(answer.shown, digestOf(toJson(asked)));
  assert.ok(holds(unsigned));
  assert.ok(!holds({ ...unsigned, decision: "deny" }));
  assert.ok(!holds({ ...unsigned, for: "session" }));
});

Deno.test("a sealed key opens with its passphrase alone", () => {
  const file = makeKeyFile("correct horse");
  assert.equal(openKey(file, "correct horse").key, file.public);
  assert.throws(() => openKey(file, "correct hors"), fault("stepUpFailed"));
  assert.throws(() => openKey(file), fault("stepUpFailed"));
  assert.throws(() => makeKeyFile("short"), fault("invalidInput"));
});

Deno.test("a key file whose public half was swapped is refused", () => {
  const [one, two] = [makeKeyFile(), makeKeyFile()];
  assert.throws(() => openKey({ ...one, public: two.public }), fault("invalidInput"));
  const sealed = makeKeyFile("correct horse");
  assert.throws(() => openKey({ ...sealed, public: two.public }, "correct horse"), Fault);
  assert.throws(() => parseKeyFile("{}"), fault("invalidInput"));
});

Deno.test("the key ring makes the consent key once, 0600, and refuses one that others can read", () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const ring = openKeyRing(powers.disk, places);
  const key = ring.provideConsent().key;
  assert.equal(openKeyRing(powers.disk, places).provideConsent().key, key);
  const path = join(places.person, "consent.key");
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  Deno.chmodSync(path, 0o644);
  assert.throws(() => ring.provideConsent(), fault("refused"));
});

Deno.test("the passphrase key is made once, and rotated only with its passphrase", () => {
  const powers = fakePowers();
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const ring = openKeyRing(powers.disk, places);
  assert.equal(ring.stepUpKey(), undefined);
  assert.throws(() => ring.openStepUp("correct horse"), fault("notFound"));
  const key = ring.createStepUp("correct horse");
  assert.throws(() => ring.createStepUp("another one"), fault("alreadyExists"));
  assert.throws(() => ring.rotateStepUp("wrong horse", "battery staple"), fault("stepUpFailed"));
  const next = ring.rotateStepUp("correct horse", "battery staple");
  assert.notEqual(next, key);
  assert.equal(ring.openStepUp("battery staple").key, next);
});
