/** Secrets of webhooks as the keep knows them: bound to the checking of deliveries, and sent nowhere. @module */
import type { Secret } from "../../contracts/wire/mod.ts";

/** Where a webhook's secret "goes": no address and no header can be written so. */
export const HOOK_PLACE = Object.freeze({ origin: "webhook", header: "hmac-sha256", prefix: "" });

/** Tells whether an entry of the keep is a webhook's. */
export function isHookSecret(entry: Pick<Secret, "origin" | "header" | "prefix">): boolean {
  const { origin, header, prefix } = HOOK_PLACE;
  return entry.origin === origin && entry.header === header && entry.prefix === prefix;
}
