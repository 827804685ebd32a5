import assert from "node:assert/strict";
import { AGE, sealing, unsealing } from "./seal_powers.ts";

const PASSPHRASE = "a passphrase of alice";

/** A file that the age-encryption package 0.3.1 made: a scrypt recipient of cost 10. */
const OF_AGE = Buffer.from(
  "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCAwYUk5ODNDWTRLOEdmTTZlNHlzRjJnIDEwCkdiTDFKazBXdVNGZmlx" +
    "OXR5U0xKSGdZdXM1RHFNdHdNalg5czdWN1kyUVkKLS0tIFlFNXZJVmJ3c04wRUFPSWhHaVBMTzdQTGtrUXZQVlgxN2RsbXd6" +
    "a3NWL00KWctDgXJWZH7eF4uU0MaCXlJ0ya+25uwHPkejnAMyETgLdum3HENxPBnb0sBi42BssA==",
  "base64",
);

/** The plain bytes of an age file, read in pieces of `step` bytes. */
function open(file: Uint8Array, { passphrase = PASSPHRASE, step = 1_000 } = {}): string {
  let at = 0;
  const line = (): string => {
    const end = file.indexOf(10, at);
    if (end === -1) throw new Error("the header has no end");
    const text = new TextDecoder().decode(file.subarray(at, end));
    at = end + 1;
    return text;
  };
  assert.equal(line(), AGE);
  const next = unsealing(passphrase, {
    line,
    read() {
      const piece = file.subarray(at, at + step);
      at += piece.length;
      return piece.length === 0 ? undefined : piece;
    },
  });
  const pieces: Uint8Array[] = [];
  for (let piece = next(); piece !== undefined; piece = next()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

Deno.test("what age sealed under a passphrase opens here, in pieces of any length, with that passphrase alone", () => {
  for (const step of [1, 15, 1_000]) assert.equal(open(OF_AGE, { step }), "what alice keeps\n");
  assert.throws(() => open(OF_AGE, { passphrase: "mallory's" }), /passphrase is another/);
});

Deno.test("mallory changes, cuts or adds to an age file: it opens nowhere", () => {
  for (let at = AGE.length + 1; at < OF_AGE.length; at++) {
    const changed = Buffer.from(OF_AGE);
    changed[at] = (changed[at] ?? 0) ^ 0x01;
    assert.throws(() => open(changed), `byte ${at}`);
  }
  for (const length of [150, 170, OF_AGE.length - 1]) {
    assert.throws(() => open(OF_AGE.subarray(0, length)));
  }
  assert.throws(() => open(Buffer.concat([OF_AGE, Buffer.from("x")])));
  const others = OF_AGE.toString("latin1").replace("-> scrypt", "-> X25519");
  assert.throws(() => open(Buffer.from(others, "latin1")), /not sealed under a passphrase/);
  const dear = OF_AGE.toString("latin1").replace(" 10\n", " 30\n");
  assert.throws(() => open(Buffer.from(dear, "latin1")), /not sealed under a passphrase/);
});

Deno.test("what is sealed here is one age file, whole at the edges of its pieces", () => {
  for (const length of [0, 65_536, 65_537]) {
    const pieces: Uint8Array[] = [];
    const sealer = sealing(PASSPHRASE, (bytes) => void pieces.push(bytes.slice()));
    if (length > 0) sealer.write(Buffer.alloc(length, "a"));
    sealer.end();
    const file = Buffer.concat(pieces);
    assert.match(file.toString("latin1"), /^age-encryption\.org\/v1\n-> scrypt [\w+/]{22} 17\n/);
    assert.equal(open(file, { step: 65_000 }).length, length);
  }
});
