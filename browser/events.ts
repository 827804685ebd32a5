/**
 * Events of a page besides loading: windows, dialogs, file choosers. All are denied and reported.
 * @module
 */
import { quoted } from "../text/page_text.ts";
import type { CDPSession } from "puppeteer-core";

// The parts of Chromium's wire that are used.

/** One page's session of the Chrome DevTools Protocol. */
export type Cdp = Pick<CDPSession, "send" | "on">;

/** Reports a page's events. */
export interface Events {
  /** Returns the events since the last call. */
  take(): Happened;
  /** Notes a window that the page opened, and that was closed. */
  popup(url: string): void;
}

/** The events of a page. */
export interface Happened {
  readonly notes: readonly string[];
  /** Addresses of closed windows. */
  readonly windows: readonly string[];
}

const MAX = 20;

/** Watches the page. */
export async function makeEvents(cdp: Cdp): Promise<Events> {
  let notes: string[] = [];
  const windows = new Set<string>();
  const popup = (url: string): void => {
    if (windows.size < MAX && url !== "" && url !== "about:blank") {
      windows.add(url.slice(0, 2_048));
    }
  };
  const note = (text: string): void => {
    if (notes.length < MAX) notes.push(text);
  };
  cdp.on("Page.javascriptDialogOpening", ({ type, message }) => {
    // A page may not keep the browser from leaving.
    const leaving = type === "beforeunload";
    void cdp.send("Page.handleJavaScriptDialog", { accept: leaving }).catch(() => undefined);
    if (!leaving) note(`the page showed a dialog, which was dismissed: ${quoted(message, 500)}`);
  });
  cdp.on("Page.fileChooserOpened", () => note("the page asked for a file, and was given none"));
  cdp.on("Page.windowOpen", ({ url }) => popup(url));
  cdp.on(
    "Page.downloadWillBegin",
    ({ url }) => note(`a download began and was stopped: ${quoted(url, 500)}`),
  );
  await cdp.send("Page.enable");
  await cdp.send("Page.setInterceptFileChooserDialog", { enabled: true });
  return Object.freeze({
    take(): Happened {
      const taken = { notes, windows: [...windows] };
      notes = [];
      windows.clear();
      return taken;
    },
    popup,
  });
}
