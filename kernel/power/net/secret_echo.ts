/** Removes secrets that the other side of a request sends back. @module */
import { Buffer } from "node:buffer";
import { isList } from "../../../contracts/base/json.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { Secret } from "../../../contracts/wire/mod.ts";

/** The replacement of a secret. */
export const REDACTED = "⟨redacted: secret⟩";

/** Shorter values, and shorter parts of base64, would match too much other text. */
const MIN_LENGTH = 4, MIN_PART = 8;

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
  // Latin-1 maps each byte to one character and back.
  const before = Buffer.from(base64, "base64").toString("latin1");
  const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
  const after = secretForms(secrets).reduce(
    (shown, form) => shown.replaceAll(bytesOf(form), bytesOf(REDACTED)),
    before,
  );
  return after === before ? base64 : Buffer.from(after, "latin1").toString("base64");
}

/**
 * All forms of each value: plain, percent-encoded like in URLs and forms, in JSON, and in base64 of both alphabets, alone,
 * with its prefix, and within a longer text (`user:value` of Basic). Longest first, so that no form hides the rest of
 * another.
 */
function secretForms(
  secrets: readonly Pick<Secret, "value" | "prefix">[],
): readonly string[] {
  const forms = secrets.filter(({ value }) => value.length >= MIN_LENGTH).flatMap((
    { value, prefix },
  ) => [value, ...urlForms(value), ...jsonForms(value), ...base64Forms(value, prefix)]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function urlForms(value: string): readonly string[] {
  return [encodeURIComponent(value), new URLSearchParams({ "": value }).toString().slice(1)]
    .flatMap((form) => [form, form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

function jsonForms(value: string): readonly string[] {
  const form = JSON.stringify(value).slice(1, -1);
  const ascii = form.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [form, ascii].flatMap((each) => [each, each.replaceAll("/", "\\/")]);
}

function base64Forms(value: string, prefix: string): readonly string[] {
  const bytes = Buffer.from(value);
  // A base64 character has six bits; those at the edges share bits with other bytes.
  const within = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
      .slice(Math.ceil(before * 8 / 6), Math.floor((before + bytes.length) * 8 / 6))
  ).filter(({ length }) => length >= MIN_PART);
  const whole = [bytes, Buffer.from(prefix + value)].map((each) =>
    each.toString("base64").replace(/=+$/, "")
  );
  return [...whole, ...within].flatMap((form) => [
    form,
    form.replaceAll("+", "-").replaceAll("/", "_"),
  ]);
}

/** A filter over one stream of bytes. */
export interface SecretFilter {
  /** Returns the bytes that may be passed on: all but an end that may begin a secret. */
  pass(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  /** Returns the bytes held back. */
  end(): Uint8Array<ArrayBuffer>;
}

/** Makes a filter that replaces each secret, in all its usual encodings, even across pieces. */
export function makeSecretFilter(
  secrets: readonly Pick<Secret, "value" | "prefix">[],
): SecretFilter {
  // Latin-1 maps each byte to one character and back.
  const latin = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
  const bytes = (text: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(Buffer.from(text, "latin1"));
  const forms = secretForms(secrets).map(latin);
  const redacted = latin(REDACTED);
  let held = "";

  /** Length of the longest end of `text` that may begin a secret. */
  const begun = (text: string): number =>
    forms.reduce((most, form) => {
      for (let n = Math.min(form.length - 1, text.length); n > most; n--) {
        if (text.endsWith(form.slice(0, n))) return n;
      }
      return most;
    }, 0);

  return Object.freeze<SecretFilter>({
    pass(chunk): Uint8Array<ArrayBuffer> {
      const whole = held + Buffer.from(chunk).toString("latin1");
      const clean = forms.reduce((text, form) => text.replaceAll(form, redacted), whole);
      const keep = begun(clean);
      held = clean.slice(clean.length - keep);
      return bytes(clean.slice(0, clean.length - keep));
    },
    end(): Uint8Array<ArrayBuffer> {
      const rest = bytes(held);
      held = "";
      return rest;
    },
  });
}
