/** Takes secrets out of bytes that come piece by piece. @module */
import { Buffer } from "node:buffer";
import type { Secret } from "../../contracts/mod.ts";
import { REDACTED, secretForms } from "./secret_echo.ts";

/** A filter over one stream of bytes. */
export interface SecretFilter {
  /** What of the bytes so far may be passed on: all but an end that may be the beginning of a secret. */
  pass(bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  /** What was held back. */
  end(): Uint8Array<ArrayBuffer>;
}

/** Makes a filter that replaces each secret, in all its usual encodings, also where it comes in two pieces. */
export function makeSecretFilter(
  secrets: readonly Pick<Secret, "value" | "prefix">[],
): SecretFilter {
  // Latin-1 gives each byte one character, and back.
  const latin = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
  const bytes = (text: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(Buffer.from(text, "latin1"));
  const forms = secretForms(secrets).map(latin);
  const redacted = latin(REDACTED);
  let held = "";

  /** Characters at the end of `text` that begin a secret. */
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
