/** Keeps a credential out of whatever a provider sends back: a hostile one may repeat it. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { joinBytes } from "../../../port/join_bytes.ts";

const STAR = 0x2a;

/** Takes secrets out of bytes that come in pieces. Lengths stay as they are. */
export interface ByteScrub {
  /** What can be given on; the end is held back while it may be the beginning of a secret. */
  push(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>;
  end(): Uint8Array<ArrayBuffer>;
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

/** Makes a scrub of bytes; of secrets that begin alike the longest must come first. */
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
 * Puts stars over each pattern in `bytes`, and gives where one may begin that goes on behind their end.
 * One pass: it runs for every piece of every answer.
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

/** How many bytes of `pattern` stand at `at`. */
function sameFrom(bytes: Uint8Array, at: number, pattern: Uint8Array): number {
  const most = Math.min(pattern.length, bytes.length - at);
  let same = 1;
  while (same < most && bytes[at + same] === pattern[same]) same++;
  return same;
}

// Text that comes in pieces: a pair of surrogates that was split is joined, a lone one replaced,
// and a secret is starred wherever it was split.

/** Joins pieces. */
export interface StreamText {
  /** What is whole of it. */
  push(text: string): string;
  end(): string;
}

/** Makes an empty one. `secrets` come out as stars. */
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

/** Cuts into pieces of at most `most` UTF-16 units, no pair of surrogates in two. */
export function* inPieces(text: string, most: number): Generator<string, void> {
  for (let at = 0; at < text.length;) {
    const end = Math.min(at + most, text.length);
    const whole = end - (end < text.length ? highSurrogate(text.slice(at, end)) : 0);
    yield text.slice(at, whole);
    at = whole;
  }
}

function highSurrogate(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? 1 : 0;
}
