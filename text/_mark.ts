/** Remit's own signs within untrusted text. They are escaped where the text itself holds them. @module */
import { createHash } from "node:crypto";

/** Opens a note of Remit's. */
export const MARK_OPEN = "⟨";
/** Closes it. */
export const MARK_CLOSE = "⟩";
/** Stands before the rest of a line that was too long. */
export const CONTINUED = "↪";

/** A note of Remit's: `⟨words⟩`. */
export function mark(words: string): string {
  return MARK_OPEN + words + MARK_CLOSE;
}

/** Says that a text was cut, how long it is, and which it is. */
export function cutMark(whole: string): string {
  const digest = createHash("sha256").update(whole).digest("hex").slice(0, 12);
  return mark(`cut: ${whole.length} characters, sha256 ${digest}`);
}
