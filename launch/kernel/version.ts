/** The version of this program, and of the formats that it reads and writes. @module */

/** Semantic version of Remit, defined only here; part of the harness that tasks record. */
export const VERSION = "0.1.0";

/** Remit's name on npm, where another package is called `remit`. */
export const NPM_NAME = "remit-runtime";

/**
 * Versions of durable formats: a newer Remit reads every older one. `state` is the schema of the database, which migrates
 * when it is opened; the others are the `version` in each document. Each equals the constant of its reader (test: version
 * names the formats as their readers have them).
 */
export const FORMATS = { config: 1, state: 4, receipt: 1, backup: 1, control: 1 } as const;
