/** Front matter that does not parse. @module */
import type { MakeCheck } from "../rule.ts";

/** Rule `frontMatter`. Files that were not taken in at all are told by `LintOptions.problems`. */
export const checkFrontMatter: MakeCheck = (view) => ({
  page({ page, file, read }) {
    for (const problem of read.front.problems) {
      view.tell({
        file,
        line: 1,
        message: problem,
        remedy:
          `Have it written anew with \`remit wiki lint --fix\`, or mend it in \`remit wiki edit ${page.name}\`.`,
        fixable: true,
      });
    }
  },
});
