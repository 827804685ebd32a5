/** Remit's own marks within untrusted text. Where the text itself holds them, they are escaped. @module */
import { createHash } from "node:crypto";

/** Opens a note by Remit. */
export const MARK_OPEN = "⟨";
/** Closes a note by Remit. */
export const MARK_CLOSE = "⟩";
/** Begins the continuation of a line that was too long. */
export const CONTINUED = "↪";

/** A note by Remit: `⟨words⟩`. */
export function mark(words: string): string {
  return MARK_OPEN + words + MARK_CLOSE;
}

/** The note on a cut text: its length and a digest of the whole. */
export function cutMark(whole: string): string {
  const digest = createHash("sha256").update(whole).digest("hex").slice(0, 12);
  return mark(`cut: ${whole.length} characters, sha256 ${digest}`);
}
