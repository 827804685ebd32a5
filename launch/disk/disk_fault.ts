/** Turns errors of the file system into faults: a full or read-only disk is no bug of Remit's. @module */
import { displayText } from "../../text/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";

const WHY: ReadonlyMap<unknown, string> = new Map([
  ["EROFS", "its file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "your quota of the disk is used up"],
  ["EACCES", "your account may not"],
  ["EPERM", "your account may not"],
  ["EEXIST", "there is something else of that name"],
  ["ENOTDIR", "a part of its path is no folder"],
  ["EISDIR", "it is a folder"],
  ["ELOOP", "its links lead in a circle"],
  ["ENAMETOOLONG", "its name is too long"],
  ["EMFILE", "this process has too many files open"],
  ["ENFILE", "the machine has too many files open"],
]);

/** Free bytes below which writing soon fails. */
const MIN_FREE_BYTES = 16_000_000;
const MIN_FREE_FILES = 64;

/** Why a file system has too little room, in words for a person; undefined where it has enough. */
export function lackOfRoom({ freeBytes, files, freeFiles }: {
  readonly freeBytes: number;
  readonly files: number;
  readonly freeFiles: number;
}): string | undefined {
  if (freeBytes < MIN_FREE_BYTES) {
    return `the disk is full: ${(freeBytes / 1e6).toFixed(1)} MB are free`;
  }
  if (files > 0 && freeFiles < MIN_FREE_FILES) {
    return `the disk has no room for more files: ${freeFiles} are free`;
  }
  return undefined;
}

/** The cause of a file system error, in words for a person; undefined for every other error. */
export function diskWhy(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? WHY.get(error.code) : undefined;
}

/**
 * The fault for an error of the file system; undefined for every other error.
 *
 * @example
 * ```ts
 * import { diskFault } from "./disk_fault.ts";
 * const full = Object.assign(new Error("No space left (os error 28): write"), { code: "ENOSPC" });
 * if (diskFault(full)?.code !== "unavailable") throw new Error("not told");
 * if (diskFault(new TypeError("x")) !== undefined) throw new Error("a bug is no fault");
 * ```
 */
export function diskFault(error: unknown): Fault | undefined {
  const why = diskWhy(error);
  if (why === undefined || !(error instanceof Error)) return undefined;
  const [, path] = /'(\/[^']*)'/.exec(error.message) ?? [];
  const what = path === undefined ? "a file" : `"${displayText(path, { max: 500 })}"`;
  return new Fault("unavailable", `Cannot write or read ${what}: ${why}`, { cause: error });
}
