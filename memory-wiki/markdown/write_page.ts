/** A page's file out of the store's page and its body. @module */
import type { Page } from "../../contracts/mod.ts";
import { frontMatter } from "./front_matter.ts";

/** The whole text of `pages/NAME.md`: front matter, a picture of what the store has, then the body as it is. */
export function writePage(page: Page, body: string): string {
  return frontMatter(page) + body;
}
