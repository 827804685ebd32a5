/** Clock, timers and randomness of the browser process. Used by main.ts. @module */
import type { Timers } from "./settle.ts";

/** The machine's timers. */
export const timers: Timers = Object.freeze({
  now: () => performance.now(),
  pause: (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
});

/** Eight hexadecimal digits. */
export function randomKey(): string {
  return crypto.getRandomValues(new Uint8Array(4)).toHex();
}
