/** Resource limits inside a plugin host, besides those of contracts/wire/wire_plugin.ts. @module */

const KiB = 1_024;
const MiB = 1_024 * KiB;

/** Maximum bytes of a module. */
export const MODULE_BYTES = 16 * MiB;

/** Maximum elements of a module's tables together: V8 counts them towards no memory limit. */
export const TABLE_ELEMENTS = 100_000;

/** Maximum bytes of a call's live Extism blocks: input, output, host calls. */
export const BLOCK_BYTES = 96 * MiB;

/**
 * Maximum blocks of one call. Extism puts a block's number into the upper 16 bits of a signed
 * number, so the 32,768th block has an invalid address.
 */
export const BLOCKS = 32_000;

/** Maximum bytes of a call's log lines, each with one byte for its end. */
export const LOG_BYTES = 64 * KiB;

/** Maximum log lines of one call. */
export const LOG_LINES = 2_000;

/** Maximum bytes of an instance's Extism variables: names and values. */
export const VARIABLE_BYTES = MiB;

/** Maximum characters of a plugin's error message. */
export const MESSAGE_CHARACTERS = 2_000;

/** An instance whose memory has grown beyond these bytes is not kept for another call. */
export const KEPT_BYTES = 64 * MiB;

/** Maximum bytes that `random` returns at once. */
export const RANDOM_BYTES = 64 * KiB;

/** Depth and count of a plugin's value: less than the enclosing frame allows. */
export const VALUE_LIMITS = Object.freeze({ depth: 60, nodes: 90_000 });

/** The fixed time for a plugin without `clock`: 2026-01-01, midnight UTC, in milliseconds. */
export const STILL_CLOCK = 1_767_225_600_000;
