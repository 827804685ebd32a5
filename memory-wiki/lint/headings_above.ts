/** Under which headings a line stands. @module */
import type { ReadPage } from "../markdown/page_text.ts";

/** The headings above `line`, outermost first. Time: linear in the headings. */
export function headingsAbove(headings: ReadPage["headings"], line: number): readonly string[] {
  const open: { readonly level: number; readonly text: string }[] = [];
  for (const heading of headings) {
    if (heading.line > line) break;
    while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop();
    open.push(heading);
  }
  return open.map(({ text }) => text);
}
