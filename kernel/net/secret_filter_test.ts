import { equal } from "node:assert/strict";
import { makeSecretFilter } from "./secret_filter.ts";

const SECRET = { value: "s3cr3t-value-of-alice", prefix: "Bearer " };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (pieces: readonly Uint8Array[]): string =>
  pieces.map((piece) => new TextDecoder("latin1").decode(piece)).join("");

Deno.test("a secret that comes back is taken out wherever the pieces are cut", () => {
  const whole = `event: x\ndata: {"token":"${SECRET.value}","b":"${btoa(SECRET.value)}"}\n\n`;
  for (let cut = 0; cut <= whole.length; cut++) {
    const filter = makeSecretFilter([SECRET]);
    const got = text([
      filter.pass(bytes(whole.slice(0, cut))),
      filter.pass(bytes(whole.slice(cut))),
      filter.end(),
    ]);
    equal(got.includes(SECRET.value), false, `cut at ${cut}`);
    equal(got.includes(btoa(SECRET.value).replace(/=+$/, "")), false, `cut at ${cut}`);
    equal(got.startsWith("event: x\ndata: "), true);
    equal(got.endsWith("\n\n"), true);
  }
});

Deno.test("what cannot be the beginning of a secret is passed on at once", () => {
  const filter = makeSecretFilter([SECRET]);
  equal(text([filter.pass(bytes("data: {}\n\n"))]), "data: {}\n\n");
  equal(text([filter.pass(bytes("ends with s3cr3t"))]), "ends with ");
  equal(text([filter.pass(bytes(" of all"))]), "s3cr3t of all");
  equal(filter.end().length, 0);
});

Deno.test("bytes that are no text come through as they were", () => {
  const filter = makeSecretFilter([SECRET]);
  const raw = Uint8Array.from({ length: 256 }, (_, n) => n);
  const got = filter.pass(raw);
  equal(got.toBase64(), raw.toBase64());
});
