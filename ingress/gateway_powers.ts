/** Chance and time, as the gateway's process has them. @module */
import type { After } from "./body.ts";

/** Random bytes. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Milliseconds of a clock that only goes forward. */
export function now(): number {
  return performance.now();
}

/** See {@link After}. */
export const after: After = (ms, then) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

/** Base64 of a text's SHA-256. */
export async function sha256Base64(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(bytes).toBase64();
}

/** Makes a text of a text, as nobody can who has not the key: HMAC-SHA-256, base64url. */
export async function makeSeal(
  key: Uint8Array<ArrayBuffer>,
): Promise<(text: string) => Promise<string>> {
  const usages: KeyUsage[] = ["sign"];
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const made = await crypto.subtle.importKey("raw", key, hmac, false, usages);
  return async (text) => {
    const bytes = await crypto.subtle.sign("HMAC", made, new TextEncoder().encode(text));
    return new Uint8Array(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
  };
}
