/** What a remote backend is handed: a clock, chance and the network of its one origin. @module */
import type { Timer } from "../timer_powers.ts";

/** Powers of a remote model service. The process's `--allow-net` narrows `fetch` to one origin. */
export interface RemotePowers {
  readonly timer: Timer;
  /** Milliseconds that only grow, for the offsets of a recording. */
  now(): number;
  /** Milliseconds since 1970, by this machine's clock. */
  date(): number;
  /** At least 0, less than 1. */
  random(): number;
  readonly fetch: typeof fetch;
}
