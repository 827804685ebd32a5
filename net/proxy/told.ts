/** What the kernel is told of connections: each at first, then no more than so many a second. @module */
import type { NetProxied } from "../../contracts/wire_net.ts";
import type { Clock } from "../clock.ts";

/** What became of one connection. */
export type Became = Omit<NetProxied, "id" | "more">;

const A_SECOND = 20;
const SECOND_MS = 1_000;

/** Tells of the connections of one proxy. */
export interface Told {
  readonly tell: (became: Became) => void;
  /** Tells of what was held back. */
  close(): void;
}

/** Makes one; `send` hears at most 20 a second: the last of those held back goes out with how `more` there were. */
export function makeTold(clock: Clock, send: (event: Omit<NetProxied, "id">) => void): Told {
  let begun = clock.now();
  let sent = 0;
  let held: { readonly last: Became; readonly more: number } | undefined;
  let forget: (() => void) | undefined;

  const flush = (): void => {
    forget?.();
    forget = undefined;
    if (held !== undefined) send({ ...held.last, ...(held.more > 0 ? { more: held.more } : {}) });
    held = undefined;
  };
  const next = (): void => {
    begun = clock.now();
    sent = held === undefined ? 0 : 1;
    flush();
  };
  return Object.freeze<Told>({
    tell(became: Became): void {
      if (forget === undefined && clock.now() - begun >= SECOND_MS) next();
      if (sent < A_SECOND) {
        sent++;
        return send(became);
      }
      held = { last: became, more: held === undefined ? 0 : held.more + 1 };
      forget ??= clock.after(Math.max(0, begun + SECOND_MS - clock.now()), next);
    },
    close: flush,
  });
}
