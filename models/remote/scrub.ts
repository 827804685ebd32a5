/** Keeps a credential out of whatever a provider sends back: a hostile one may repeat it. @module */
import { Fault } from "../../contracts/fault.ts";
import { joinBytes } from "../../port/join_bytes.ts";

/** A shorter one is a placeholder (`ollama`, `not-needed`), and might be a word of an answer. */
const SHORTEST = 16;
const STAR = 0x2a;

/** Takes secrets out of bytes that come in pieces. Lengths stay as they are. */
export interface ByteScrub {
  /** What can be given on; the end is held back while it may be the beginning of a secret. */
  push(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  end(): Uint8Array<ArrayBuffer>;
}

/**
 * What stands for a credential's value in answers, the longest first: itself and what follows each
 * space in it (`Bearer KEY`), as they are and as JSON writes them, also within JSON of JSON.
 */
export function secretsOf(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  const words = [...value.matchAll(/ +/g)].map(({ 0: gap, index }) =>
    value.slice(index + gap.length)
  );
  const forms = [value, ...words].filter((each) => each.length >= SHORTEST)
    .flatMap((each) => [each, inJson(each), inJson(inJson(each))]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** A fault whose words do not hold a secret, nor its beginning where they were cut off. */
export function scrubFault(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Fault)) return error;
  let message = scrubText(error.message, secrets);
  if (message.endsWith("…")) {
    const kept = message.slice(0, -1);
    const most = Math.max(0, ...secrets.map((secret) => beginningOf(secret, kept)));
    message = `${kept.slice(0, kept.length - most)}${"*".repeat(most)}…`;
  }
  if (message === error.message) return error;
  // Without its cause, which has the same words.
  return new Fault(error.code, message, error.detail === undefined ? {} : { detail: error.detail });
}

/** How many units at the end of `text` may begin `secret`. */
export function beginningOf(secret: string, text: string): number {
  for (let n = Math.min(secret.length - 1, text.length); n > 0; n--) {
    if (text.endsWith(secret.slice(0, n))) return n;
  }
  return 0;
}

/** Replaces each secret in `text` with stars. */
export function scrubText(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) out = out.replaceAll(secret, "*".repeat(secret.length));
  return out;
}

/** Makes a scrub of bytes. */
export function makeByteScrub(secrets: readonly string[]): ByteScrub {
  const patterns = secrets.map((secret) => new TextEncoder().encode(secret));
  let held: Uint8Array<ArrayBuffer> = new Uint8Array();

  return Object.freeze<ByteScrub>({
    push(bytes) {
      if (patterns.length === 0) return bytes;
      const all = held.length === 0 ? bytes : joinBytes([held, bytes]);
      for (const pattern of patterns) {
        for (let at = find(all, pattern, 0); at >= 0; at = find(all, pattern, at)) {
          all.fill(STAR, at, at + pattern.length);
        }
      }
      const keep = Math.max(...patterns.map((pattern) => tail(all, pattern)));
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
