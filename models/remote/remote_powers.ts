/** The clock, chance and network of a remote model service's process. @module */
import { timer } from "../timer_powers.ts";
import type { RemotePowers } from "./endpoint.ts";

/** Those of this process; its `--allow-net` names one origin. */
export const remotePowers: RemotePowers = Object.freeze<RemotePowers>({
  timer,
  now: () => performance.now(),
  date: () => Date.now(),
  random: () => Math.random(),
  fetch: (input, init) => fetch(input, init),
});
