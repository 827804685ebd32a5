/** What a plugin host has of its machine: a clock, chance, and a digest. @module */

/** Milliseconds since 1970. */
export const now = (): number => Date.now();

/** So many unpredictable bytes, at most 65,536, in base64. */
export function random(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toBase64();
}

/** SHA-256 in hex. WebCrypto: importing node:crypto would cost this process 16 ms at its start. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
