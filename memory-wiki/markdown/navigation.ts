/** What stands on a page to find one's way, and says nothing of its subject: search leaves it out. @module */
import { isRemark, onlyLinks } from "./claims.ts";
import { piecesOf } from "./inline.ts";

/** Headings of sections that hold links alone. */
export const NAVIGATION_HEADINGS: ReadonlySet<string> = new Set(["See also", "Terms"]);

const LEAD = /^From \[\[[^\[\]\n]{1,400}\]\]:$/;

/** Whether a block's text is navigation: a remark in italics, links alone, or "From [[page]]:" before a quote. */
export function isNavigation(text: string): boolean {
  return isRemark(text) || LEAD.test(text.trim()) || onlyLinks(piecesOf(text));
}
