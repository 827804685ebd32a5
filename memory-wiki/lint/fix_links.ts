/** Broken links with one near name, corrected in a page's body. @module */
import { cleared, type Finding, type Page, PageName } from "../../contracts/mod.ts";
import type { LintedStore } from "./linted_store.ts";

const LINK = /\[\[([^[\]\n|#]{1,400})/gu;

/**
 * Writes the near name that a finding gives in place of the target on its line. A page that is more confidential than
 * this one is never named in it.
 */
export function correctLinks(
  store: LintedStore,
  page: Page,
  { body, bodyLine }: { readonly body: string; readonly bodyLine: number },
  findings: readonly Finding[],
): { readonly body: string; readonly count: number } {
  const lines = body.split("\n");
  let count = 0;
  for (const { line, message, other } of findings) {
    const name = PageName.safeParse(/^pages\/(.+)\.md$/.exec(other?.file ?? "")?.[1]);
    const near = name.success ? store.pages.get(name.data) : undefined;
    const at = (line ?? 0) - bodyLine;
    const text = lines[at];
    if (near === undefined || text === undefined || !cleared(near.label, page.label)) continue;
    lines[at] = text.replace(LINK, (whole, target: string) => {
      const wanted = message.startsWith(`No page is called ${JSON.stringify(target.trim())};`);
      if (!wanted || store.pages.find(target.trim()) !== undefined) return whole;
      count += 1;
      return `[[${near.name}`;
    });
  }
  return { body: lines.join("\n"), count };
}
