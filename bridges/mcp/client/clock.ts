/** Time, as the bridge is handed it. @module */

/** A steady clock. */
export interface Clock {
  /** Milliseconds since any moment. */
  now(): number;
  /** Runs `run` after `ms` milliseconds, unless the function that it returns is called before. */
  after(ms: number, run: () => void): () => void;
}
