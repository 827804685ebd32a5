/**
 * Pages that no other page links to. The index does not count: it lists everything. A summary that
 * cites its source is reached by it, so it is never an orphan. Links from pages above the clearance do not count either: who links is theirs.
 * @module
 */
import type { PageName } from "../../../contracts/mod.ts";
import type { MakeCheck } from "../rule.ts";

/** Rule `orphanPage`. */
export const checkOrphanPage: MakeCheck = (view) => {
  const linked = new Set<PageName>();
  const pages: PageName[] = [];
  return {
    page({ page, read }) {
      if (page.kind !== "summary" || read.citations.length === 0) pages.push(page.name);
      for (const { target } of read.links) {
        const name = view.names.find(target);
        if (name !== undefined && name !== page.name) linked.add(name);
      }
    },
    end() {
      if (pages.length < 2) return; // a first page has nobody to link to it
      for (const name of pages) {
        if (linked.has(name)) continue;
        view.tell({
          file: `pages/${name}.md`,
          line: 1,
          message: "No other page links to this one.",
          remedy:
            `Write \`[[${name}]]\` where it belongs; \`remit wiki query\` shows which pages speak of it.`,
          fixable: false,
        });
      }
    },
  };
};
