/** Whether a delivery is signed with a webhook's secret. Each answer takes the same work. @module */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { WebhookConfig } from "../../../contracts/mod.ts";

/** How old, or how far ahead, a signed timestamp may be. Milliseconds. */
export const HOOK_WINDOW_MS = 300_000;

/** Where GitHub and those who do as it does put the signature. */
const SIGNATURE = "x-hub-signature-256";
const SIGNED = /^(?:sha256=)?([0-9a-fA-F]{64})$/;
const SECONDS = /^\d{1,12}$/;

/** What a delivery came with. */
export interface HookBytes {
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What its signature says. `late`: it is right, and too old or too new. */
export interface HookVerdict {
  readonly verdict: "right" | "wrong" | "late";
  /** What was signed, hashed under the secret: the same for the same bytes. */
  readonly mac: string;
}

/** A header's own value. */
export function hookHeader(headers: HookBytes["headers"], name: string): string | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

/**
 * Checks a delivery against `secret` in constant time. Without a secret the same work is done and the verdict is
 * `wrong`, so that a path that is not there is not told from a signature that does not hold.
 */
export function checkHook(
  call: HookBytes,
  options: {
    readonly config: Pick<WebhookConfig, "header" | "timestamp">;
    readonly secret: string | undefined;
    readonly now: number;
  },
): HookVerdict {
  const { config, secret, now } = options;
  const time = config.timestamp === undefined
    ? undefined
    : hookHeader(call.headers, config.timestamp) ?? "";
  const hmac = createHmac("sha256", secret ?? "no secret at all");
  if (time !== undefined) hmac.update(`${time}.`);
  const mac = hmac.update(call.body).digest();
  const given = SIGNED.exec(hookHeader(call.headers, config.header ?? SIGNATURE) ?? "")?.[1];
  const claimed = Buffer.from(given ?? "", "hex");
  const same = timingSafeEqual(mac, claimed.length === mac.length ? claimed : Buffer.alloc(32));
  const hex = mac.toString("hex");
  if (!same || given === undefined || secret === undefined) return { verdict: "wrong", mac: hex };
  if (time === undefined) return { verdict: "right", mac: hex };
  const fresh = SECONDS.test(time) && Math.abs(now - Number(time) * 1_000) <= HOOK_WINDOW_MS;
  return { verdict: fresh ? "right" : "late", mac: hex };
}

/** The header and value that sign a body, for `remit webhook test`. `seconds` since 1970. */
export function signHook(
  body: string,
  options: {
    readonly config: Pick<WebhookConfig, "header" | "timestamp">;
    readonly secret: string;
    readonly seconds: number;
  },
): Readonly<Record<string, string>> {
  const { config, secret, seconds } = options;
  const hmac = createHmac("sha256", secret);
  if (config.timestamp !== undefined) hmac.update(`${seconds}.`);
  return {
    [config.header ?? SIGNATURE]: `sha256=${hmac.update(body).digest("hex")}`,
    ...(config.timestamp === undefined ? {} : { [config.timestamp]: String(seconds) }),
  };
}
