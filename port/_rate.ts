/** An average rate with room for bursts. @module */
import { Fault } from "../contracts/fault.ts";

const WINDOW_SECONDS = 10;

/** Makes a counter that throws `tooLarge` once more than `perSecond` frames came, averaged over ten seconds. */
export function makeRate(perSecond: number, now: (() => number) | undefined): () => void {
  if (now === undefined) return () => {};
  const most = perSecond * WINDOW_SECONDS;
  let room = most;
  let counted = now();
  return () => {
    // The clock is read only when a burst has used up its room.
    if (--room >= 0) return;
    const at = now();
    room = Math.min(most, room + (at - counted) / 1000 * perSecond);
    counted = at;
    if (room < 0) {
      throw new Fault("tooLarge", `Cannot take frame: more than ${perSecond} a second`);
    }
  };
}
