import { deepEqual, equal } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { hidden, makeSecretFilter, REDACTED, withoutSecrets } from "./secret_echo.ts";

const SECRET = { value: `k/3~y+ "ö" of alice?>`, prefix: "Bearer " };
const inBase64 = (text: string): string => Buffer.from(text).toString("base64");
const inBase64Url = (text: string): string => Buffer.from(text).toString("base64url");
const inForm = (text: string): string => new URLSearchParams({ a: text }).toString().slice(2);

/** What a server may make of a value, each of which a program reads back with one call. */
const ECHOES: readonly (readonly [string, string])[] = [
  ["as it is", SECRET.value],
  ["in a URL", encodeURIComponent(SECRET.value)],
  [
    "in a URL, lower case",
    encodeURIComponent(SECRET.value).replaceAll(/%../g, (c) => c.toLowerCase()),
  ],
  ["in a form", inForm(SECRET.value)],
  ["in a form, lower case", inForm(SECRET.value).replaceAll(/%../g, (c) => c.toLowerCase())],
  ["in JSON", JSON.stringify(SECRET.value)],
  ["in JSON with escaped slashes", JSON.stringify(SECRET.value).replaceAll("/", "\\/")],
  ["in JSON of ASCII alone", JSON.stringify(SECRET.value).replaceAll("ö", "\\u00f6")],
  ["in base64", inBase64(SECRET.value)],
  ["in base64url", inBase64Url(SECRET.value)],
  ["with its prefix in base64", inBase64(SECRET.prefix + SECRET.value)],
];

Deno.test("a secret that a server sends back is taken out in each of its usual forms", () => {
  for (const [what, echo] of ECHOES) {
    const shown = hidden(`before ${echo} after`, [SECRET]);
    equal(shown.replaceAll(/["=]/g, ""), `before ${REDACTED} after`, what);
    deepEqual(withoutSecrets({ [echo]: [echo] }, [SECRET]), {
      [hidden(echo, [SECRET])]: [hidden(echo, [SECRET])],
    });
    const body = inBase64(`before ${echo} after`);
    const cleaned = withoutSecrets({ body }, [SECRET]);
    deepEqual(cleaned, { body: inBase64(shown) }, what);
  }
});

Deno.test("within the base64 of a longer text no byte of a secret can be read but those at its edges", () => {
  for (let before = 0; before < 7; before++) {
    for (let after = 0; after < 4; after++) {
      const text = "u".repeat(before) + SECRET.value + "z".repeat(after);
      for (const echo of [inBase64(text), inBase64Url(text)]) {
        const shown = hidden(echo, [SECRET]);
        equal(shown.split(REDACTED).length, 2, `${before} before, ${after} after`);
        const [first = "", last = ""] = shown.split(REDACTED);
        const told = Buffer.from(first, "base64").length + Buffer.from(last, "base64").length;
        equal(told <= before + after + 2, true, `${before} before, ${after} after: ${shown}`);
      }
    }
  }
});

Deno.test("a secret within another one takes nothing of its neighbour's redaction", () => {
  const inner = { value: "alice", prefix: "" },
    outer = { value: "key-of-alice-and-bob", prefix: "" };
  equal(hidden("key-of-alice-and-bob", [inner, outer]), REDACTED);
  equal(hidden("of alice", [inner, outer]), `of ${REDACTED}`);
});

Deno.test("a text without a secret stays as it is", () => {
  const text = `{"a":"b","body":"${inBase64("nothing of it")}"}`;
  equal(hidden(text, [SECRET]), text);
  equal(hidden("abc abc", [{ value: "abc", prefix: "" }]), "abc abc");
});

const SECRET_SECRET_FILTER = { value: "s3cr3t-value-of-alice", prefix: "Bearer " };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (pieces: readonly Uint8Array[]): string =>
  pieces.map((piece) => new TextDecoder("latin1").decode(piece)).join("");

Deno.test("a secret that comes back is taken out wherever the pieces are cut", () => {
  const whole = `event: x\ndata: {"token":"${SECRET_SECRET_FILTER.value}","b":"${
    btoa(SECRET_SECRET_FILTER.value)
  }"}\n\n`;
  for (let cut = 0; cut <= whole.length; cut++) {
    const filter = makeSecretFilter([SECRET_SECRET_FILTER]);
    const got = text([
      filter.pass(bytes(whole.slice(0, cut))),
      filter.pass(bytes(whole.slice(cut))),
      filter.end(),
    ]);
    equal(got.includes(SECRET_SECRET_FILTER.value), false, `cut at ${cut}`);
    equal(
      got.includes(btoa(SECRET_SECRET_FILTER.value).replace(/=+$/, "")),
      false,
      `cut at ${cut}`,
    );
    equal(got.startsWith("event: x\ndata: "), true);
    equal(got.endsWith("\n\n"), true);
  }
});

Deno.test("what cannot be the beginning of a secret is passed on at once", () => {
  const filter = makeSecretFilter([SECRET_SECRET_FILTER]);
  equal(text([filter.pass(bytes("data: {}\n\n"))]), "data: {}\n\n");
  equal(text([filter.pass(bytes("ends with s3cr3t"))]), "ends with ");
  equal(text([filter.pass(bytes(" of all"))]), "s3cr3t of all");
  equal(filter.end().length, 0);
});

Deno.test("bytes that are no text come through as they were", () => {
  const filter = makeSecretFilter([SECRET_SECRET_FILTER]);
  const raw = Uint8Array.from({ length: 256 }, (_, n) => n);
  const got = filter.pass(raw);
  equal(got.toBase64(), raw.toBase64());
});
