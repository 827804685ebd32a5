/** A record that was changed, cut or written past the store. @module */
import type { MakeCheck } from "../rule.ts";

/** Rule `logAltered`. */
export const checkLogAltered: MakeCheck = (view) => ({
  end() {
    const problem = view.store.log.verify();
    if (problem === undefined) return;
    view.tell({
      file: "log.md",
      message: `The record does not hold: ${problem.replace(/\.$/, "")}.`,
      remedy:
        "Compare it with `remit wiki log` and with a backup; what it says after that line is not to be relied on.",
      fixable: false,
    });
  },
});
