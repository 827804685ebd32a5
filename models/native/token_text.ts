/** Tokens as text, whole characters at a time. @module */
import type { AddonModel } from "./addon.ts";

/** Tokens that one character may need: four bytes, and some that say nothing. */
const LONGEST = 8;
const BROKEN = "\u{fffd}";

/** Text of tokens as they come. */
export interface TokenText {
  /** The text that is complete with this token, perhaps none. */
  take(token: number): string;
  /** What is left at the end. */
  rest(): string;
}

/** Makes it; `before` is a token that stands before the first, so that its space is kept. */
export function makeTokenText(
  model: Pick<AddonModel, "detokenize">,
  before: number | undefined,
): TokenText {
  let anchor = before === undefined ? [] : [before];
  let waiting: number[] = [];
  const text = (tokens: readonly number[]): string =>
    model.detokenize(Uint32Array.from(tokens), true);
  let said = text(anchor);
  const flush = (whole: string): string => {
    const piece = whole.slice(said.length);
    anchor = waiting.slice(-1);
    said = text(anchor);
    waiting = [];
    return piece;
  };
  return Object.freeze({
    take(token: number): string {
      waiting.push(token);
      const whole = text([...anchor, ...waiting]);
      return waiting.length < LONGEST && whole.endsWith(BROKEN) ? "" : flush(whole);
    },
    rest: () => waiting.length === 0 ? "" : flush(text([...anchor, ...waiting])),
  });
}
