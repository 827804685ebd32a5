/** A page's file out of the store's page and its body. @module */
import type { Page } from "../../contracts/mod.ts";
import { frontMatter } from "./front_matter.ts";

/**
 * The whole text of `pages/NAME.md`: front matter, a picture of what the store has and `others`, the lines of keys that
 * other programs have there, then the body as it is.
 */
export function writePage(page: Page, body: string, others: readonly string[] = []): string {
  return frontMatter(page, others) + body;
}
