/** Secrets that the other side of a request sends back, taken out again. Issue 3, Secrets. @module */
import { isList } from "../../contracts/json.ts";
import { Buffer } from "node:buffer";
import type { Json, Secret } from "../../contracts/mod.ts";

/** What stands in the place of a secret. */
export const REDACTED = "⟨redacted: secret⟩";
/** A value this short stands for too much else. */
const SHORTEST = 4;

/** A text without the values, plain or in the usual encodings. */
export function hidden(text: string, secrets: readonly Pick<Secret, "value" | "prefix">[]): string {
  return secretForms(secrets).reduce((shown, form) => shown.replaceAll(form, REDACTED), text);
}

/** A JSON value without the secrets in any of its texts; `body` is base64 of bytes. */
export function withoutSecrets(
  value: Json,
  secrets: readonly Pick<Secret, "value" | "prefix">[],
): Json {
  if (secrets.length === 0) return value;
  if (typeof value === "string") return hidden(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((each) => withoutSecrets(each, secrets));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      hidden(key, secrets),
      key === "body" && typeof each === "string"
        ? cleanBytes(each, secrets)
        : withoutSecrets(each, secrets),
    ]),
  );
}

function cleanBytes(base64: string, secrets: readonly Pick<Secret, "value" | "prefix">[]): string {
  // Latin-1 gives each byte one character, and back.
  const before = Buffer.from(base64, "base64").toString("latin1");
  const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
  const after = secretForms(secrets).reduce(
    (shown, form) => shown.replaceAll(bytesOf(form), bytesOf(REDACTED)),
    before,
  );
  return after === before ? base64 : Buffer.from(after, "latin1").toString("base64");
}

/** Each value as it is, in base64 with and without its prefix, percent-encoded, and in JSON. */
export function secretForms(
  secrets: readonly Pick<Secret, "value" | "prefix">[],
): readonly string[] {
  return secrets.filter(({ value }) => value.length >= SHORTEST).flatMap(({ value, prefix }) => [
    value,
    Buffer.from(value).toString("base64").replace(/=+$/, ""),
    Buffer.from(prefix + value).toString("base64").replace(/=+$/, ""),
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
  ]);
}
