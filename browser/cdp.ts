/** The wire to Chromium, as far as it is used. @module */
import type { CDPSession } from "puppeteer-core";

/** One page's session of the Chrome DevTools Protocol. */
export type Cdp = Pick<CDPSession, "send" | "on">;
