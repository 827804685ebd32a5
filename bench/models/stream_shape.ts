/** The shape of the recorded answer that streams are measured with. @module */

/** Deltas of one word: of a whole answer, and of one whose beginning is measured. */
export const DELTAS = 300, FEW_DELTAS = 12;
/** Milliseconds from the request to the first. */
export const FIRST_MS = 200;
/** Milliseconds between two. */
export const EVERY_MS = 10;
