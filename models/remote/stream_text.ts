/**
 * Text that comes in pieces: a pair of surrogates that was split is joined, a lone one replaced, and a
 * secret is starred wherever it was split. @module
 */

/** Joins pieces. */
export interface StreamText {
  /** What is whole of it. */
  push(text: string): string;
  end(): string;
}

/** Makes an empty one. `secret`, if there is one, comes out as stars. */
export function makeStreamText(secret = ""): StreamText {
  const stars = "*".repeat(secret.length);
  let held = "";
  return Object.freeze<StreamText>({
    push(text) {
      const joined = held + text;
      const all = secret === "" ? joined : joined.replaceAll(secret, stars);
      const keep = Math.max(highSurrogate(all), beginning(all, secret));
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

/** How many units at the end may begin `secret`. */
function beginning(text: string, secret: string): number {
  for (let n = Math.min(secret.length - 1, text.length); n > 0; n--) {
    if (text.endsWith(secret.slice(0, n))) return n;
  }
  return 0;
}
