/** Keeps a credential out of whatever a provider sends back: a hostile one may repeat it. @module */

/** A shorter one is a placeholder (`ollama`, `not-needed`), and might be a word of an answer. */
const SHORTEST = 16;
const STAR = 0x2a;

/** Takes secrets out of bytes that come in pieces. Lengths stay as they are. */
export interface ByteScrub {
  /** What can be given on; the end is held back while it may be the beginning of a secret. */
  push(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  end(): Uint8Array<ArrayBuffer>;
}

/** The secrets of a credential's value: itself, and last what follows `Bearer`, which is in both. */
export function secretsOf(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  const bare = value.replace(/^[A-Za-z]+ +/, "");
  return [...new Set([value, bare])].filter((each) => each.length >= SHORTEST);
}

/** Replaces each secret in `text` with stars. */
export function scrubText(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) out = out.replaceAll(secret, "*".repeat(secret.length));
  return out;
}

/** Makes a scrub of bytes. */
export function makeByteScrub(secrets: readonly string[]): ByteScrub {
  const pattern = new TextEncoder().encode(secrets.at(-1) ?? "");
  let held: Uint8Array<ArrayBuffer> = new Uint8Array();

  return Object.freeze<ByteScrub>({
    push(bytes) {
      if (pattern.length === 0) return bytes;
      const all = held.length === 0 ? bytes : joined(held, bytes);
      for (let at = find(all, pattern, 0); at >= 0; at = find(all, pattern, at)) {
        all.fill(STAR, at, at + pattern.length);
      }
      const keep = tail(all, pattern);
      held = all.slice(all.length - keep);
      return all.subarray(0, all.length - keep);
    },
    end() {
      const rest = held;
      held = new Uint8Array();
      return rest;
    },
  });
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

function find(bytes: Uint8Array, pattern: Uint8Array, from: number): number {
  const [first = 0] = pattern;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (at + pattern.length > bytes.length) return -1;
    if (matches(bytes, { at, pattern, length: pattern.length })) return at;
  }
  return -1;
}

/** How many bytes at the end may begin a secret. */
function tail(bytes: Uint8Array, pattern: Uint8Array): number {
  for (let length = Math.min(pattern.length - 1, bytes.length); length > 0; length--) {
    if (matches(bytes, { at: bytes.length - length, pattern, length })) return length;
  }
  return 0;
}

function matches(
  bytes: Uint8Array,
  { at, pattern, length }: { at: number; pattern: Uint8Array; length: number },
): boolean {
  for (let n = 0; n < length; n++) if (bytes[at + n] !== pattern[n]) return false;
  return true;
}
