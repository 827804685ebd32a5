/**
 * Takes the console away from the SDK: what it prints would stand between the frames of our port.
 * @module
 */
import type { Clock } from "./calls.ts";

let hear: (text: string) => void = () => {};

/** Warnings of the SDK go here from now on; it writes what servers say into them. */
export function hearWarnings(to: (text: string) => void): void {
  hear = to;
}

for (const name of ["log", "debug", "info", "trace", "dir", "table", "group", "error"]) {
  Object.defineProperty(console, name, { value: () => {} });
}
Object.defineProperty(console, "warn", {
  value: (...said: unknown[]) => hear(said.filter((part) => typeof part === "string").join(" ")),
});

// The real clock of a bridge.

/** See {@link Clock}. */
export const clock: Clock = Object.freeze<Clock>({
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
});

// Web classes that the prelude hides because each takes milliseconds to load: a server at a URL
// needs some of them. Imported before the prelude.

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
