/** Work of a millisecond each that comes a hundred at a time: others are heard in between. @module */
import type { Powers } from "../../contracts/mod.ts";

/**
 * Makes a gate for such work: who comes alone passes at once, whoever comes while another passed in
 * this turn of the event loop waits for a later one, in order.
 */
export function makeTurns(powers: Pick<Powers, "after">): () => Promise<void> {
  let last: Promise<void> | undefined;
  return async () => {
    const before = last;
    const over = Promise.withResolvers<void>();
    last = over.promise;
    await before;
    powers.after(0, () => {
      if (last === over.promise) last = undefined;
      over.resolve();
    });
  };
}
