/** Removes a credential from everything a provider returns: a hostile one may echo it. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { joinBytes } from "../../../port/join_bytes.ts";

const STAR = 0x2a;

/** Masks secrets in a stream of bytes. Lengths stay the same. */
export interface ByteScrub {
  /** Bytes that may be passed on; the end is held back while it may begin a secret. */
  push(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  end(): Uint8Array<ArrayBuffer>;
}

/** Masks secrets in a fault's message, also the beginning of one at a cut. */
export function scrubFault(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Fault)) return error;
  let message = scrubText(error.message, secrets);
  if (message.endsWith("…")) {
    const kept = message.slice(0, -1);
    const max = Math.max(0, ...secrets.map((secret) => beginningOf(secret, kept)));
    message = `${kept.slice(0, kept.length - max)}${"*".repeat(max)}…`;
  }
  if (message === error.message) return error;
  // Drops the cause, which has the same message.
  return new Fault(error.code, message, error.detail === undefined ? {} : { detail: error.detail });
}

/** Length of the end of `text` that may begin `secret`. */
function beginningOf(secret: string, text: string): number {
  const first = secret.charAt(0);
  const from = Math.max(0, text.length - secret.length + 1);
  for (let at = text.indexOf(first, from); at >= 0; at = text.indexOf(first, at + 1)) {
    if (secret.startsWith(text.slice(at))) return text.length - at;
  }
  return 0;
}

/** Replaces each secret in `text` with stars. */
export function scrubText(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) out = out.replaceAll(secret, "*".repeat(secret.length));
  return out;
}

/** Makes a filter of bytes. If one secret is a prefix of another, the longer must come first. */
export function makeByteScrub(secrets: readonly string[]): ByteScrub {
  const byFirst: Uint8Array[][] = [];
  for (const secret of secrets) {
    const pattern = new TextEncoder().encode(secret);
    (byFirst[pattern[0] ?? 0] ??= []).push(pattern);
  }
  let held: Uint8Array<ArrayBuffer> = new Uint8Array();

  return Object.freeze<ByteScrub>({
    push(bytes) {
      if (secrets.length === 0) return bytes;
      const all = held.length === 0 ? bytes : joinBytes([held, bytes]);
      const until = starIn(all, byFirst);
      held = all.slice(until);
      return all.subarray(0, until);
    },
    end() {
      const rest = held;
      held = new Uint8Array();
      return rest;
    },
  });
}

/**
 * Masks each pattern in `bytes`. Returns where a pattern may begin that continues behind the end. One pass,
 * since it runs for every piece of every answer.
 */
function starIn(bytes: Uint8Array, byFirst: readonly (readonly Uint8Array[])[]): number {
  let until = bytes.length;
  for (let at = 0; at < bytes.length; at++) {
    const patterns = byFirst[bytes[at] ?? 0];
    if (patterns === undefined) continue;
    for (const pattern of patterns) {
      const same = sameFrom(bytes, at, pattern);
      if (same === pattern.length) {
        bytes.fill(STAR, at, at + same);
        at += same - 1;
        break;
      }
      if (at + same === bytes.length) until = Math.min(until, at);
    }
  }
  return until;
}

/** How many bytes of `pattern` match at `at`. */
function sameFrom(bytes: Uint8Array, at: number, pattern: Uint8Array): number {
  const max = Math.min(pattern.length, bytes.length - at);
  let same = 1;
  while (same < max && bytes[at + same] === pattern[same]) same++;
  return same;
}

// Streamed text: a split surrogate pair is joined, a lone surrogate replaced, and a secret masked even if split.

/** Joins pieces of a streamed text. */
export interface StreamText {
  /** Text that may be passed on. */
  push(text: string): string;
  end(): string;
}

/** Makes a join that masks `secrets` with stars. */
export function makeStreamText(secrets: readonly string[] = []): StreamText {
  let held = "";
  return Object.freeze<StreamText>({
    push(text) {
      const all = scrubText(held + text, secrets);
      const begun = secrets.map((secret) => beginningOf(secret, all));
      const keep = Math.max(highSurrogate(all), ...begun);
      held = all.slice(all.length - keep);
      return all.slice(0, all.length - keep).toWellFormed();
    },
    end() {
      const rest = held;
      held = "";
      return rest.toWellFormed();
    },
  });
}

/** Cuts a text into pieces of at most `max` UTF-16 units, never within a surrogate pair. */
export function* inPieces(text: string, max: number): Generator<string, void> {
  for (let at = 0; at < text.length;) {
    const end = Math.min(at + max, text.length);
    const whole = end - (end < text.length ? highSurrogate(text.slice(at, end)) : 0);
    yield text.slice(at, whole);
    at = whole;
  }
}

function highSurrogate(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? 1 : 0;
}
