/** Clock, randomness and network of a remote model service. Used by main.ts. @module */
import { timer } from "../timer_powers.ts";
import type { RemotePowers } from "./endpoint.ts";

/** `--allow-net` of the process restricts `fetch` to one origin. */
export const remotePowers: RemotePowers = Object.freeze<RemotePowers>({
  timer,
  now: () => performance.now(),
  date: () => Date.now(),
  random: () => Math.random(),
  fetch: (input, init) => fetch(input, init),
});
