/** Pages too long to be read, or to be given to an agent, in one piece. @module */
import type { MakeCheck } from "../rule.ts";

const LINES = 400;
const BYTES = 40 * 1024;

/** Rule `longPage`. */
export const checkLongPage: MakeCheck = (view) => ({
  page({ page, file }) {
    if (page.lines <= LINES && page.bytes <= BYTES) return;
    view.tell({
      file,
      line: Math.min(page.lines, LINES),
      message: page.lines > LINES
        ? `This page has ${page.lines} lines; ${LINES} are enough for one.`
        : `This page has ${Math.ceil(page.bytes / 1024)} KB; ${BYTES / 1024} are enough for one.`,
      remedy:
        `Divide it in \`remit wiki edit ${page.name}\`: a page a thing, with links between them.`,
      fixable: false,
    });
  },
});
