/** The net service's clock. @module */

/** A monotonic clock. */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  now(): number;
  /** Runs `run` once after `ms` milliseconds; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}
