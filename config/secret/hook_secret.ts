/** Secrets that no kernel is told: of webhooks, to check deliveries with; tokens of fleets, for `--fleet`. @module */
import type { Secret } from "../../contracts/wire/mod.ts";

/** Where a webhook's secret "goes": no address and no header can be written so. */
export const HOOK_PLACE = Object.freeze({ origin: "webhook", header: "hmac-sha256", prefix: "" });

/** Tells whether an entry of the keep is a webhook's. */
export function isHookSecret(entry: Pick<Secret, "origin" | "header" | "prefix">): boolean {
  const { origin, header, prefix } = HOOK_PLACE;
  return entry.origin === origin && entry.header === header && entry.prefix === prefix;
}

/** Where the token of a fleet's gateway "goes", beside `fleet:HOST` as its origin. */
export const FLEET_PLACE = Object.freeze({ header: "fleet", prefix: "" });

/** Tells whether an entry of the keep is the token of a fleet's gateway. */
export function isFleetSecret(entry: Pick<Secret, "origin" | "header" | "prefix">): boolean {
  return /^fleet:[A-Za-z0-9.:[\]-]{1,300}$/.test(entry.origin) &&
    entry.header === FLEET_PLACE.header && entry.prefix === FLEET_PLACE.prefix;
}
