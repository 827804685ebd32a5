/** Running calls: each has a deadline and can be cancelled. @module */
import { Fault } from "../../../contracts/base/fault.ts";

interface Underway {
  /** Aborts with the {@link Fault} that ends the call. */
  readonly signal: AbortSignal;
}

/** The running calls of a bridge. */
export interface Calls {
  /** Runs `work` as the call `id`. Throws `timedOut` at the deadline, `cancelled`, and what `work` throws. */
  run<T>(
    call: { readonly id: string; readonly deadlineMs: number; readonly verb: string },
    work: (underway: Underway) => Promise<T>,
  ): Promise<T>;
  cancel(id: string): void;
  /** Ends every call with `fault`. */
  endAll(fault: Fault): void;
  /** Whether a call of the kernel is running; the bridge's own calls do not count. */
  busy(): boolean;
  /** The kernel's newest call: a question of the server is taken to belong to it. */
  latest(): string | undefined;
}

/** Ids of the bridge's own calls; the kernel never uses them. */
export const OPENING = "\0open";
/** The call that lists what the server offers; see {@link OPENING}. */
export const LISTING = "\0words";
const OWN: ReadonlySet<string> = new Set([OPENING, LISTING]);

/** Makes the calls of a bridge, none running. */
export function makeCalls(clock: Pick<Clock, "after">): Calls {
  const underway = new Map<string, AbortController>();
  const latest = (): string | undefined => [...underway.keys()].filter((id) => !OWN.has(id)).at(-1);
  return Object.freeze<Calls>({
    async run({ id, deadlineMs, verb }, work) {
      if (underway.has(id)) throw new Fault("conflict", `Cannot ${verb}: its id is in use`);
      const abort = new AbortController();
      underway.set(id, abort);
      const late = (): void =>
        abort.abort(new Fault("timedOut", `Cannot ${verb}: no answer within ${deadlineMs} ms`));
      const forget = clock.after(deadlineMs, late);
      try {
        return await untilAborted(work({ signal: abort.signal }), abort.signal);
      } finally {
        forget();
        underway.delete(id);
      }
    },
    cancel(id) {
      underway.get(id)?.abort(new Fault("cancelled", "Cannot finish the call: it was cancelled"));
    },
    endAll(fault) {
      for (const abort of underway.values()) abort.abort(fault);
    },
    busy: () => latest() !== undefined,
    latest,
  });
}

/** Settles with `work`, or rejects when `signal` aborts: some waits of the SDK ignore signals. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject);
  });
}

/** Waits for `ms` milliseconds. Rejects with the signal's reason when it aborts meanwhile. */
export function pause(
  clock: Pick<Clock, "after">,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = clock.after(ms, resolve);
    signal?.addEventListener("abort", () => {
      forget();
      reject(signal.reason);
    }, { once: true });
  });
}

/** A monotonic clock. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /** Runs `run` after `ms` milliseconds; the returned function cancels that. */
  after(ms: number, run: () => void): () => void;
}
