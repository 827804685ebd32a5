/**
 * Copies of a state in one file, also while its kernel runs, sealed under a passphrase where one is given.
 *
 * @example
 * ```ts
 * import { backupKey, makeSealedHow } from "./mod.ts";
 * const how = { ...makeSealedHow(), cost: 15 };
 * if (backupKey("a passphrase", how).length !== 32) throw new Error("no key of 256 bits");
 * ```
 * @module
 */
export { readBackup, writeBackup } from "./archive.ts";
export { backupDisk } from "./disk_powers.ts";
export type { BackupHands, SealedHow } from "./format.ts";
export { backupKey, makeSealedHow } from "./seal_powers.ts";
