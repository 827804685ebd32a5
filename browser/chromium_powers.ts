/** Starts Debian's Chromium and controls its one page. Used by main.ts. @module */
import puppeteer, { type Browser, type Target } from "puppeteer-core";
import { Fault } from "../contracts/base/fault.ts";
import type { Cdp } from "./events.ts";
import { chromiumFlags } from "./flags.ts";

/** A running Chromium, with a profile that ends with its namespace. */
export interface Chromium {
  readonly cdp: Cdp;
  /** Calls `heard` with the address of each window that the page opened; it is closed already. */
  onPopup(heard: (url: string) => void): void;
  /** Resolves when Chromium has ended, or its page has crashed. */
  readonly ended: Promise<void>;
}

const START_MS = 20_000;
/** Permissions of pages, all denied. */
const PERMISSIONS = [
  "geolocation",
  "notifications",
  "clipboard-read",
  "clipboard-write",
  "camera",
  "microphone",
  "midi",
  "background-sync",
  "local-fonts",
  "storage-access",
  "window-management",
  "idle-detection",
] as const;

/**
 * Starts `program`. Its wire is a pair of pipes: there is no port to connect to.
 *
 * @throws Fault `unavailable` when it does not start
 */
export async function startChromium(program: string, profile: string): Promise<Chromium> {
  let browser: Browser;
  try {
    browser = await puppeteer.launch({
      executablePath: program,
      pipe: true,
      ignoreDefaultArgs: true,
      args: [...chromiumFlags(profile)],
      // Passes on none of this process's own variables.
      env: { HOME: "/tmp", TMPDIR: "/tmp", LANG: "C.UTF-8", TZ: "UTC" },
      ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
      timeout: START_MS,
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] ?? "" : "";
    throw new Fault("unavailable", `Cannot start the browser: ${why.slice(0, 300)}`, { cause });
  }
  const [first, ...others] = await browser.pages();
  const page = first ?? await browser.newPage();
  for (const other of others) await other.close();
  const cdp = await page.createCDPSession();
  const ended = new Promise<void>((resolve) => {
    browser.once("disconnected", () => resolve());
    cdp.on("Inspector.targetCrashed", () => resolve());
  });
  await cdp.send("Inspector.enable");
  const heard = new Set<(url: string) => void>();
  const own = page.target();
  browser.on("targetcreated", (target) => void closePopup(target, own, heard));
  await deny(cdp);
  return Object.freeze({
    cdp,
    onPopup: (each: (url: string) => void) => void heard.add(each),
    ended,
  });
}

async function deny(cdp: Cdp): Promise<void> {
  for (const name of PERMISSIONS) {
    // Names change with versions; the flag denies prompts in any case.
    await cdp.send("Browser.setPermission", { permission: { name }, setting: "denied" })
      .catch(() => undefined);
  }
  await cdp.send("Browser.setDownloadBehavior", { behavior: "deny" });
}

async function closePopup(
  target: Target,
  own: Target,
  heard: ReadonlySet<(url: string) => void>,
): Promise<void> {
  if (target === own || target.type() !== "page") return;
  const url = target.url();
  for (const each of heard) each(url);
  const page = await target.page().catch(() => null);
  await page?.close().catch(() => undefined);
}
