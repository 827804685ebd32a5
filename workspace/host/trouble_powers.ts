/** What Deno and the system throw about files, as the few troubles that we tell apart. @module */
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

/** Numbers of the system's errors that Deno gives no code for. */
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

/** Which trouble an error is. */
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

/** What `operation` gives. Throws `FsTrouble` with its code. */
export function attempt<T>(operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw new FsTrouble(codeOf(error), error);
  }
}

/** As {@link attempt}; undefined where nothing is at the path. */
export function tryThere<T>(operation: () => T): T | undefined {
  try {
    return operation();
  } catch (error) {
    const code = codeOf(error);
    if (code === "notFound" || code === "notFolder") return undefined;
    throw new FsTrouble(code, error);
  }
}

/** What lies at a path. */
export function kindOf(is: { isFile: boolean; isDirectory: boolean; isSymlink: boolean }): Kind {
  return is.isSymlink ? "link" : is.isFile ? "file" : is.isDirectory ? "folder" : "other";
}
