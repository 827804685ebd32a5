/** What the net service knows of time. @module */

/** Time that only goes forward. */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Runs `run` once, after `ms` milliseconds; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}
