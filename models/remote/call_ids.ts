/** Ids of calls: the provider's where it fits and is new, else one that is made. @module */
import { CallId } from "../../contracts/ids.ts";

/** Gives ids that no call has yet. */
export interface CallIds {
  next(asked: string | undefined): CallId;
}

/** Makes ids beside those that are `known`. */
export function makeCallIds(known: Iterable<string>): CallIds {
  const taken = new Set(known);
  let made = 0;
  const unused = (): CallId => {
    for (;;) {
      const id = CallId.parse(`call_${++made}`);
      if (!taken.has(id)) return id;
    }
  };
  return Object.freeze<CallIds>({
    next(asked) {
      const parsed = CallId.safeParse(asked);
      const id = parsed.success && !taken.has(parsed.data) ? parsed.data : unused();
      taken.add(id);
      return id;
    },
  });
}
