/**
 * The browser process: one Chromium, controlled for one process of a task, in a namespace without a
 * network. Bundled as browser.js; its one argument is the path of Chromium's executable. No
 * prelude: puppeteer-core needs the `Buffer` and `process` that a prelude removes.
 * docs/decision/0010.
 * @module
 */
import { WIDE_FRAME_BYTES } from "../contracts/wire/wire_plugin.ts";
import { serveChild } from "../port/child_powers.ts";
import { startChromium } from "./chromium_powers.ts";
import { makeService } from "./service.ts";
import { makeSession } from "./session.ts";
import { randomKey, timers } from "./timers_powers.ts";

/** A file system in memory, which ends with the namespace. */
const PROFILE = "/tmp/profile";

await serveChild((port) =>
  makeService({
    port,
    async start() {
      const chromium = await startChromium(Deno.args[0] ?? "", PROFILE);
      void chromium.ended.then(() => Deno.exit(1));
      const session = await makeSession({ cdp: chromium.cdp, timers, key: randomKey() });
      chromium.onPopup(session.popup);
      return session;
    },
  }), { frameBytes: WIDE_FRAME_BYTES });
