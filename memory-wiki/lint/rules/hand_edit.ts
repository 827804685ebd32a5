/** Files that were changed past the store: not yet taken in, or taken in and read by nobody since. @module */
import { createHash } from "node:crypto";
import type { MakeCheck } from "../rule.ts";

/** Rule `handEdit`. */
export const checkHandEdit: MakeCheck = (view) => ({
  page({ page, file }) {
    const bytes = view.store.pages.onDisk(page.name);
    const there = bytes !== undefined;
    const changed = there && createHash("sha256").update(bytes).digest("hex") !== page.digest;
    if (!there || changed) {
      view.tell({
        file,
        line: 1,
        message: there
          ? "This file was changed past the store, and is not taken in yet."
          : "This file was removed past the store.",
        remedy: there
          ? `See what changed with \`remit wiki diff ${page.name}\`; any next \`remit wiki\` command takes it in.`
          : `Bring it back from \`remit wiki history ${page.name}\`, or let the next \`remit wiki\` command record that it is gone.`,
        fixable: false,
      });
      return;
    }
    if (page.author !== "hand" || page.reviewed !== undefined) return;
    view.tell({
      file,
      line: 1,
      message:
        `Version ${page.version} was written by hand, past the store, and nobody has reviewed it.`,
      remedy:
        `Look at it with \`remit wiki diff ${page.name}\`, then say so with \`remit wiki review ${page.name}\`.`,
      fixable: false,
    });
  },
});
