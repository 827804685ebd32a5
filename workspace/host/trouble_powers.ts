/** Maps errors of Deno and the system to the few troubles that Remit distinguishes. @module */
import { FsTrouble, type Kind, type TroubleCode } from "./files.ts";

const SYSTEM: Readonly<Record<string, TroubleCode>> = {
  ENOENT: "notFound",
  EACCES: "closed",
  EPERM: "closed",
  EROFS: "readOnly",
  ENOSPC: "noSpace",
  EDQUOT: "noSpace",
  EFBIG: "noSpace",
  EEXIST: "exists",
  ENOTDIR: "notFolder",
  ENAMETOOLONG: "tooLong",
  ELOOP: "loop",
  EIO: "broken",
  ESTALE: "broken",
  ENODEV: "broken",
  ENXIO: "broken",
  ENOTCONN: "broken",
  EHOSTDOWN: "broken",
  ETIMEDOUT: "broken",
};

/** System error numbers for which Deno gives no code. */
const NUMBERS: Readonly<Record<string, TroubleCode>> = {
  5: "broken",
  27: "noSpace",
  28: "noSpace",
  30: "readOnly",
  36: "tooLong",
  40: "loop",
  107: "broken",
  116: "broken",
  122: "noSpace",
};

/** The trouble of an error. */
export function codeOf(error: unknown): TroubleCode {
  if (error instanceof Deno.errors.NotCapable) return "denied";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const number = error instanceof Error ? /os error (\d+)/.exec(error.message)?.[1] ?? "" : "";
  const known = SYSTEM[code] ?? NUMBERS[number];
  if (known !== undefined) return known;
  if (error instanceof Deno.errors.NotFound) return "notFound";
  if (error instanceof Deno.errors.PermissionDenied) return "closed";
  if (error instanceof Deno.errors.AlreadyExists) return "exists";
  if (error instanceof Deno.errors.NotADirectory) return "notFolder";
  return error instanceof Deno.errors.FilesystemLoop ? "loop" : "other";
}

/** Runs `operation`. Throws `FsTrouble` with the code of its error. */
export function attempt<T>(operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw new FsTrouble(codeOf(error), error);
  }
}

/** Like {@link attempt}; undefined where nothing is at the path. */
export function tryThere<T>(operation: () => T): T | undefined {
  try {
    return operation();
  } catch (error) {
    const code = codeOf(error);
    if (code === "notFound" || code === "notFolder") return undefined;
    throw new FsTrouble(code, error);
  }
}

/** The kind of a directory entry. */
export function kindOf(is: { isFile: boolean; isDirectory: boolean; isSymlink: boolean }): Kind {
  return is.isSymlink ? "link" : is.isFile ? "file" : is.isDirectory ? "folder" : "other";
}
