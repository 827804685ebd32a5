/** Where a key of the front matter stands. @module */

/** Most lines of front matter that are looked through. */
const MOST = 200;

/** The line of `key:` between the `---` lines at the top of a page's file; 1 when there is none. */
export function lineOfKey(text: string, key: string): number {
  const lines = text.split("\n", MOST);
  if (lines[0]?.trim() !== "---") return 1;
  for (const [index, line] of lines.entries()) {
    if (index > 0 && line.trim() === "---") break;
    if (line.startsWith(`${key}:`)) return index + 1;
  }
  return 1;
}
