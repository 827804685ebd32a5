/** The version of this program. @module */

/** Semantic version of Remit; part of the harness that tasks record. */
export const VERSION = "0.1.0";
