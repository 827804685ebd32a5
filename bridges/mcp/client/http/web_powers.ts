/**
 * Web classes that the prelude hides because each takes milliseconds to load: a server at a URL needs some of them.
 * Imported before the prelude.
 * @module
 */

const KEPT = ["Response", "Headers", "Request"] as const;
const descriptors = KEPT.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);

/** Gives the classes back to the SDK's HTTP transport. None of them reaches anything. */
export function restoreWeb(): void {
  for (const [name, descriptor] of descriptors) {
    if (typeof name === "string" && typeof descriptor === "object") {
      Object.defineProperty(globalThis, name, descriptor);
    }
  }
}
