/** Texts of a server made short. @module */

/** At most `units` UTF-16 units of `text`, never half a character; an ellipsis says that some are gone. */
export function cutText(text: string, units: number): string {
  if (text.length <= units) return text;
  const high = text.charCodeAt(units - 2);
  const end = high >= 0xd800 && high < 0xdc00 ? units - 2 : units - 1;
  return `${text.slice(0, end)}…`;
}

/** A server's name for something, as our sentences quote it. */
export function quoted(name: unknown): string {
  return typeof name === "string" ? JSON.stringify(cutText(name, 80)) : `a ${typeof name}`;
}
