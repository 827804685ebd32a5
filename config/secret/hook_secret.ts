/** Secrets that no kernel receives: webhooks' secrets, which check deliveries, and fleets' tokens, for `--fleet`. @module */
import type { Secret } from "../../contracts/wire/mod.ts";

/** The destination that marks a webhook's secret; no real origin and header have this form. */
export const HOOK_PLACE = Object.freeze({ origin: "webhook", header: "hmac-sha256", prefix: "" });

/** Whether an entry of the keep is a webhook's secret. */
export function isHookSecret(entry: Pick<Secret, "origin" | "header" | "prefix">): boolean {
  const { origin, header, prefix } = HOOK_PLACE;
  return entry.origin === origin && entry.header === header && entry.prefix === prefix;
}

/** The destination that marks the token of a fleet's gateway, with `fleet:HOST` as its origin. */
export const FLEET_PLACE = Object.freeze({ header: "fleet", prefix: "" });

/** Whether an entry of the keep is the token of a fleet's gateway. */
export function isFleetSecret(entry: Pick<Secret, "origin" | "header" | "prefix">): boolean {
  return /^fleet:[A-Za-z0-9.:[\]-]{1,300}$/.test(entry.origin) &&
    entry.header === FLEET_PLACE.header && entry.prefix === FLEET_PLACE.prefix;
}
