/** A card for tests of the protocol, as `remit serve` makes one, not signed. */
import { makeCard } from "../../service/peer/card.ts";
import { canonicalJson } from "../../port/canonical.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { CardAnswer } from "../../contracts/wire/wire_a2a.ts";

/** When it was made. */
export const CARD_AT = Date.UTC(2026, 10, 22, 12, 0, 0);

/** The card of an agent at `url`. */
export function kitCard(url: string): CardAnswer {
  const card = canonicalJson(makeCard({ serve: {}, url, version: "0.0.0", push: true }));
  return { card, etag: `"${sha256Hex(card).slice(0, 32)}"`, modified: CARD_AT };
}
