/** How many texts an embedder takes at once. @module */
import { Fault } from "../contracts/fault.ts";

const MOST_TEXTS = 256;

/** Throws `tooLarge` for more than 256 texts. */
export function checkTexts(texts: readonly string[]): void {
  if (texts.length > MOST_TEXTS) {
    throw new Fault("tooLarge", `Cannot embed: more than ${MOST_TEXTS} texts at once`);
  }
}
