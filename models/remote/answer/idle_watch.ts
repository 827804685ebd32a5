/** Notices that nothing comes any more, with one waiting timer instead of one for each piece. @module */
import type { RemotePowers } from "../powers.ts";

/** A watch over something that should go on. */
export interface IdleWatch {
  /** It went on; from now on at most `limitMs` may pass. */
  progressed(limitMs: number): void;
  end(): void;
}

/** Calls `onIdle` once when nothing progressed for `limitMs` milliseconds. */
export function watchIdle(
  { timer, now }: Pick<RemotePowers, "timer" | "now">,
  limitMs: number,
  onIdle: () => void,
): IdleWatch {
  const over = new AbortController();
  let until = now() + limitMs;

  async function wait(): Promise<void> {
    for (let left = limitMs; left > 0; left = until - now()) await timer.wait(left, over.signal);
    if (!over.signal.aborted) onIdle();
  }
  // Its only rejection is the end of the watch.
  wait().catch(() => undefined);

  return Object.freeze<IdleWatch>({
    progressed: (limit) => void (until = now() + limit),
    // With a reason: an error that is made for nobody takes longer than the rest.
    end: () => over.abort("the watch ended"),
  });
}
