/** How a worker says that its turn ended. @module */
import { Fault, type Json, type TurnEnd } from "../../contracts/mod.ts";

const STOPS = [
  "answered",
  "iterations",
  "cancelled",
  "terminated",
  "contextOverflow",
  "length",
  "budget",
  "upstream",
  "brake",
] as const;

/**
 * Parses it. TRUST: a worker may say anything, and may not claim how the kernel ended it.
 * @throws Fault `badFrame`
 */
export function parseTurnEnd(value: Json): TurnEnd {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    const { stop, text } = value as { stop?: unknown; text?: unknown };
    const known = STOPS.find((each) => each === stop);
    if (known !== undefined && typeof text === "string" && text.length <= 1_000_000) {
      return { stop: known, text };
    }
  }
  throw new Fault("badFrame", "Cannot end the turn: the worker's answer does not parse");
}
