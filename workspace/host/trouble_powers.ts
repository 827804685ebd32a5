/** What Deno and the system throw about files, as the few troubles that we tell apart. @module */
import { FsTrouble, type Kind, type TroubleCode } from "./files.ts";

const SYSTEM: Readonly<Record<string, TroubleCode>> = {
  ENOENT: "notFound",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  ENOSPC: "noSpace",
  EDQUOT: "noSpace",
  EFBIG: "noSpace",
  EEXIST: "exists",
  ENOTDIR: "notFolder",
};

/** Which trouble an error is. */
export function codeOf(error: unknown): TroubleCode {
  if (error instanceof Deno.errors.NotFound) return "notFound";
  if (error instanceof Deno.errors.NotCapable) return "denied";
  if (error instanceof Deno.errors.PermissionDenied) return "denied";
  if (error instanceof Deno.errors.AlreadyExists) return "exists";
  if (error instanceof Deno.errors.NotADirectory) return "notFolder";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = SYSTEM[code];
  if (known !== undefined) return known;
  return error instanceof Error && error.message.includes("os error 28") ? "noSpace" : "other";
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
