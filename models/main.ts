/** Entry of the scripted model's process: no permissions, one scenario, one port. Bundled as model.js. @module */
import "../port/prelude_powers.ts";
import { serveChild } from "../port/child_powers.ts";
import { makeModelService } from "./service.ts";
import { timer } from "./timer_powers.ts";

await serveChild((port) => ({
  ...makeModelService(port, {
    scripted: async () => {
      const { openScripted } = await import("./scripted/open.ts");
      return (open) => openScripted(open, { timer });
    },
  }),
  // Timers run only during a request, so an idle process may be frozen.
  still: () => true,
}));
