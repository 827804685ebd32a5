/** A plugin host's powers: a clock, randomness, and a digest. @module */

/** Milliseconds since 1970. */
export const now = (): number => Date.now();

/** Random bytes, at most 65,536, in base64. */
export function random(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toBase64();
}

/** SHA-256 in hex by WebCrypto: importing node:crypto costs this process 16 ms at its start. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
