/** How many members the objects of a JSON text have, counted in the text itself. @module */

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Counts the `"key": value` pairs of a text that JSON.parse has accepted: its colons outside strings. */
export function countMembers(text: string): number {
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === COLON) members++;
    else if (unit === QUOTE) i = endOfString(text, i + 1);
  }
  return members;
}

function endOfString(text: string, from: number): number {
  for (let i = from;; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) return i;
    if (unit === BACKSLASH) i++;
    else if (Number.isNaN(unit)) throw new TypeError("Cannot count members: unterminated string");
  }
}
