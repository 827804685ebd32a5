/** The scripted model's process: no rights, one play behind one port. Bundled as model.js. @module */
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
  // Its clock runs within a request alone.
  still: () => true,
}));
