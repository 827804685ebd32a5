/** What the machine refuses of a file, as a fault: a full or read-only disk is no bug of ours. @module */
import { displayText } from "../../text/mod.ts";
import { Fault } from "../../contracts/mod.ts";

const WHY: ReadonlyMap<unknown, string> = new Map([
  ["EROFS", "its file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "your quota of the disk is used up"],
  ["EACCES", "your account may not"],
  ["EPERM", "your account may not"],
]);

/**
 * The fault that an error of the file system stands for; undefined for every other error.
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
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const why = WHY.get(error.code);
  if (why === undefined) return undefined;
  const [, path] = /'(\/[^']*)'/.exec(error.message) ?? [];
  const what = path === undefined ? "a file" : `"${displayText(path, { max: 500 })}"`;
  return new Fault("unavailable", `Cannot write or read ${what}: ${why}`, { cause: error });
}
