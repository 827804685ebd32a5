/**
 * Copies of a state in one file, also while its kernel runs, sealed under a passphrase where one is given.
 *
 * @example
 * ```ts
 * import { backupDisk } from "./mod.ts";
 * if (backupDisk.exists("/nothing/here")) throw new Error("nothing is there");
 * ```
 * @module
 */
export { readBackup, writeBackup } from "./archive.ts";
export { backupDisk } from "./disk_powers.ts";
export type { BackupPowers } from "./format.ts";
