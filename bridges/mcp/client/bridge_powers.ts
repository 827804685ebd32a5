/**
 * The powers of a bridge. Importing it silences the console: output would corrupt the port's
 * frames.
 * @module
 */
import type { Clock } from "./calls.ts";

let hear: (text: string) => void = () => {};

/** Sends the SDK's warnings, which may quote servers, to `to` from now on. */
export function hearWarnings(to: (text: string) => void): void {
  hear = to;
}

for (const name of ["log", "debug", "info", "trace", "dir", "table", "group", "error"]) {
  Object.defineProperty(console, name, { value: () => {} });
}
Object.defineProperty(console, "warn", {
  value: (...parts: unknown[]) => hear(parts.filter((part) => typeof part === "string").join(" ")),
});

/** The real clock. */
export const clock: Clock = Object.freeze<Clock>({
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
});

// The prelude hides web classes, since each takes milliseconds to load. The HTTP transport needs
// these: their descriptors are saved here, so import this file before the prelude.
const KEPT = ["Response", "Headers", "Request"] as const;
const descriptors = KEPT.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);

/** Restores the classes that the SDK's HTTP transport needs. None of them reaches the network. */
export function restoreWeb(): void {
  for (const [name, descriptor] of descriptors) {
    if (typeof name === "string" && typeof descriptor === "object") {
      Object.defineProperty(globalThis, name, descriptor);
    }
  }
}
