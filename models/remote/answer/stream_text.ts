/**
 * Text that comes in pieces: a pair of surrogates that was split is joined, a lone one replaced, and a
 * secret is starred wherever it was split. @module
 */
import { beginningOf, scrubText } from "../redact/scrub.ts";

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
