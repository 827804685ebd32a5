/** Front matter that does not parse. @module */
import { Confidence, PageKind } from "../../../contracts/mod.ts";
import type { MakeCheck } from "../rule.ts";

/** Rule `frontMatter`. Files that were not taken in at all are told by `LintOptions.problems`. */
export const checkFrontMatter: MakeCheck = (view) => ({
  page({ page, file, read }) {
    const { kind, confidence, problems } = read.front;
    const unknown = [
      ...(kind === undefined || PageKind.safeParse(kind).success ? [] : [
        `The front matter's kind ${JSON.stringify(kind.slice(0, 60))} is none: ${
          PageKind.options.join(", ")
        }.`,
      ]),
      ...(confidence === undefined || Confidence.safeParse(confidence).success ? [] : [
        `The front matter's confidence ${JSON.stringify(confidence.slice(0, 60))} is none: ${
          Confidence.options.join(", ")
        }.`,
      ]),
    ];
    for (const problem of [...problems, ...unknown]) {
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
