/** Chromium's command line: only what pages need, and no requests of its own. Used by chromium_powers.ts. @module */

/**
 * The whole command line. Chromium's own sandbox stays on: it runs inside the namespace, in which
 * no user is root.
 */
export function chromiumFlags(profile: string): readonly string[] {
  return [
    "--headless=new",
    `--user-data-dir=${profile}`,
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-search-engine-choice-screen",
    "--disable-notifications",
    "--disable-speech-api",
    "--disable-file-system",
    "--disable-remote-fonts",
    "--disable-print-preview",
    "--deny-permission-prompts",
    "--mute-audio",
    "--metrics-recording-only",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    // One process for pages: a page can reach no other origin, whatever frames it.
    "--disable-site-isolation-trials",
    "--renderer-process-limit=2",
    "--js-flags=--max-old-space-size=256",
    `--disable-features=${OFF.join(",")}`,
    "--window-size=1280,900",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "about:blank",
  ];
}

const OFF = [
  // An http:// address stays as the gate approved it.
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "IsolateOrigins",
  "site-per-process",
  "IsolateSandboxedIframes",
  "Translate",
  "AcceptCHFrame",
  "MediaRouter",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "Prerender2",
  "SpeculationRulesPrefetchFuture",
  "PreconnectToSearch",
  "PreloadTopChromeWebUI",
  "BackForwardCache",
  "WebUSB",
  "WebBluetooth",
  "DirectSockets",
];
