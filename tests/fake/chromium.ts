/** The system's Chromium, controlled by a test: one profile, removed with it. */
import puppeteer, { type Page } from "puppeteer-core";
import { chromiumFlags } from "../../browser/flags.ts";

const CHROMIUM = "/usr/bin/chromium";

/** Whether Chromium is installed: without it its tests are skipped, and fail where CI=true. */
export const HAS_CHROMIUM = isFile(CHROMIUM) || Deno.env.get("CI") === "true";
if (!HAS_CHROMIUM) {
  Deno.stderr.writeSync(
    new TextEncoder().encode(
      "chromium is not installed: the page is not opened in a browser here\n",
    ),
  );
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false; // not installed
  }
}

/** A running Chromium. */
export interface Chromium extends AsyncDisposable {
  /** Opens a new tab. */
  tab(): Promise<Page>;
}

/** Starts Chromium. Names in `hosts` lead to this machine, and all others nowhere. */
export async function startChromium(hosts: readonly string[]): Promise<Chromium> {
  const dir = await Deno.makeTempDir({ prefix: "remit-chromium-" });
  const rules = [
    ...hosts.map((host) => `MAP ${host} 127.0.0.1`),
    "MAP * ~NOTFOUND",
    "EXCLUDE 127.0.0.1",
  ];
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    pipe: true,
    ignoreDefaultArgs: true,
    args: [
      ...(Deno.uid() === 0 ? ["--no-sandbox"] : []),
      `--host-resolver-rules=${rules.join(",")}`,
      ...chromiumFlags(`${dir}/profile`),
    ],
    env: { HOME: dir, TMPDIR: dir, LANG: "C.UTF-8", TZ: "UTC", PATH: "/usr/bin:/bin" },
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
    timeout: 300_000,
  });
  return {
    tab: () => browser.newPage(),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await Deno.remove(dir, { recursive: true }).catch(() => undefined);
    },
  };
}
