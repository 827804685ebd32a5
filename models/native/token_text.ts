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
  const flush = (): string => {
    const whole = text([...anchor, ...waiting]).slice(text(anchor).length);
    anchor = waiting.slice(-1);
    waiting = [];
    return whole;
  };
  return Object.freeze({
    take(token: number): string {
      waiting.push(token);
      if (waiting.length < LONGEST && text([...anchor, ...waiting]).endsWith(BROKEN)) return "";
      return flush();
    },
    rest: () => waiting.length === 0 ? "" : flush(),
  });
}
