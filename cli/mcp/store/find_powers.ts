/** Programs and files of this machine. @module */
import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import type { FoundProgram } from "./hands.ts";

/** See `McpStoreHands.changedAt`. */
export function changedAt(path: string): number | undefined {
  try {
    return Deno.lstatSync(path).mtime?.getTime();
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
}

/** See `McpStoreHands.hashFile`. */
export function hashFile(path: string): string | undefined {
  try {
    using file = Deno.openSync(path);
    const hash = createHash("sha256"), piece = new Uint8Array(1_048_576);
    for (let n = file.readSync(piece); n !== null; n = file.readSync(piece)) {
      hash.update(piece.subarray(0, n));
    }
    return hash.digest("hex");
  } catch (error) {
    if (missing(error)) return undefined;
    throw error;
  }
}

/** Whether an error says that something is not there for this process. */
export function missing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.IsADirectory;
}

/** See `McpStoreHands.find`. */
export function findProgram(program: string): FoundProgram | undefined {
  const folders = program.includes("/") ? [""] : (Deno.env.get("PATH") ?? "").split(":");
  for (const folder of folders) {
    const asked = join(folder, program);
    if (!isAbsolute(asked)) continue;
    try {
      const path = Deno.realPathSync(asked);
      const { isFile, mode } = Deno.statSync(path);
      const sha256 = isFile && ((mode ?? 0) & 0o111) !== 0 ? hashFile(path) : undefined;
      if (sha256 !== undefined) return { path, sha256 };
    } catch (error) {
      if (!missing(error)) throw error;
    }
  }
  return undefined;
}
