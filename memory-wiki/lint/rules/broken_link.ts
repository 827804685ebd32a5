/**
 * Links to pages that are not there. A warning: a link to a page that nobody has written yet is how a wiki grows. A
 * page above the clearance is not there either, so that a finding says nothing about it.
 * @module
 */
import { cleared, PageName } from "../../../contracts/mod.ts";
import type { MakeCheck } from "../rule.ts";

/** Rule `brokenLink`: one finding a target and line. */
export const checkBrokenLink: MakeCheck = (view) => ({
  page({ page, file, read }) {
    const told = new Set<string>();
    for (const { target, line } of read.links) {
      if (view.names.find(target) !== undefined || told.has(`${line} ${target}`)) continue;
      told.add(`${line} ${target}`);
      const found = view.names.near(target);
      const near = found === page.name ? undefined : found; // a page has no use for a link to itself
      const label = near === undefined ? undefined : view.store.pages.get(near)?.label;
      // A page never comes to name one that is more confidential than itself.
      const fixable = label !== undefined && cleared(label, page.label);
      view.tell({
        file,
        line,
        message: near === undefined
          ? `No page is called ${JSON.stringify(target)}.`
          : `No page is called ${JSON.stringify(target)}; "${near}" is nearly that.`,
        remedy: fixable
          ? "Correct the link with `remit wiki lint --fix`."
          : PageName.safeParse(target).success
          ? `Write that page with \`remit wiki edit ${target}\`, or remove the link in \`remit wiki edit ${page.name}\`.`
          : `Correct or remove the link in \`remit wiki edit ${page.name}\`.`,
        fixable,
        ...(near === undefined ? {} : { other: { file: `pages/${near}.md` } }),
      });
    }
  },
});
