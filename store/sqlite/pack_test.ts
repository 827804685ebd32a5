import assert from "node:assert/strict";
import fc from "fast-check";
import { packBody, tryUnpackBody } from "./_pack.ts";

const HEX = "0123456789abcdef".repeat(4);
const BASE64 = new Uint8Array(64).fill(0xa7).toBase64({ alphabet: "base64url", omitPadding: true });

const value = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom(
      HEX,
      BASE64,
      HEX + HEX,
      HEX.slice(1),
      `${BASE64}A`,
      "ok",
      "operator",
      "private",
    ),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("call", "kind", "at", "é", "", "unknownWord", HEX), tie("json")),
  ),
})).json;

Deno.test("pack: every text comes back as it was", () => {
  fc.assert(fc.property(value, (json) => {
    const text = JSON.stringify(json);
    assert.equal(tryUnpackBody(packBody(text).slice()), text);
  }));
  fc.assert(fc.property(fc.string({ unit: "binary" }), (any) => {
    const text = any.toWellFormed();
    assert.equal(tryUnpackBody(packBody(text).slice()), text);
  }));
  for (
    const text of ["", '"', '""', '"call', '"call"call":', `"${HEX}`, "\u0000", "\u0003\u0000"]
  ) {
    assert.equal(tryUnpackBody(packBody(text).slice()), text);
  }
});

Deno.test("pack: no two byte strings read as one text", () => {
  fc.assert(
    fc.property(value, fc.nat(), fc.integer({ min: 1, max: 255 }), (json, where, mask) => {
      const packed = packBody(JSON.stringify(json));
      const flipped = packed.slice();
      const at = where % packed.length;
      flipped[at] = (flipped[at] ?? 0) ^ mask;
      const text = tryUnpackBody(flipped);
      assert.ok(text === undefined || text !== JSON.stringify(json));
    }),
    { numRuns: 2_000 },
  );
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    const text = tryUnpackBody(bytes);
    assert.ok(text === undefined || Uint8Array.from(packBody(text)).toHex() === bytes.toHex());
  }));
});

Deno.test("pack: the bytes of a text stay what they are in every log", () => {
  const text = `{"call":"ok","é":["${HEX}","${BASE64}"],"tool\\"":"main"}`;
  assert.equal(
    packBody(text).toHex(),
    "7b04040309" + "2c22c3a9223a5b" + `01${HEX}` + `2c020040${"a7".repeat(64)}` +
      "5d2c22746f6f6c5c22223a" + "0377" + "7d",
  );
});

Deno.test("pack: an event of many digests and fields takes less than half its size", () => {
  const text = `{"argumentsHash":"${HEX}","call":"c1","colour":"YELLOW","descriptor":"${HEX}",` +
    `"effect":"read","label":"internal","private":"${HEX}","session":"s00000000000a"}`;
  assert.ok(packBody(text).length * 2 < text.length, `${packBody(text).length} of ${text.length}`);
});
