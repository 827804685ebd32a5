/** What a plugin may use up inside its host, beside what contracts/wire/wire_plugin.ts says. @module */

const KiB = 1_024;
const MiB = 1_024 * KiB;

/** Longest module, bytes. */
export const MODULE_BYTES = 16 * MiB;

/** Most elements that all tables of a module may have together: V8 counts them in no memory limit. */
export const TABLE_ELEMENTS = 100_000;

/** Most bytes that a call may have in Extism's blocks at one time: input, output, host calls. */
export const BLOCK_BYTES = 96 * MiB;

/**
 * Most blocks of one call. Extism puts a block's number into the upper 16 bits of a signed number: the
 * 32,768th has an address that means nothing.
 */
export const BLOCKS = 32_000;

/** Most bytes of all log lines of one call, with one for the end of each. */
export const LOG_BYTES = 64 * KiB;

/** Most log lines of one call. */
export const LOG_LINES = 2_000;

/** Most bytes of Extism's variables of one instance: names and values. */
export const VARIABLE_BYTES = MiB;

/** Longest message that a plugin's error has, characters. */
export const MESSAGE_CHARACTERS = 2_000;

/** An instance whose memory has become larger is not kept for another call, bytes. */
export const KEPT_BYTES = 64 * MiB;

/** Most bytes that `random` gives at once. */
export const RANDOM_BYTES = 64 * KiB;

/** Depth and count of a value that a plugin gives: less than a frame takes, which holds it. */
export const VALUE_LIMITS = Object.freeze({ depth: 60, nodes: 90_000 });

/** What `clock` says to a plugin that was not granted it: 2026-01-01, midnight UTC, in milliseconds. */
export const STILL_CLOCK = 1_767_225_600_000;
