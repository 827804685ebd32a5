/** What the private parts of intents and outcomes say of files. @module */
import { Digest, type Json, type JsonObject } from "../contracts/mod.ts";

/** A patch that was being applied when a kernel ended: it may be in the folder, or a part of it. */
export interface TornPatch {
  /** Key of the call. */
  readonly key: string;
  readonly patch: Digest;
  /** Files that it changes, `MOUNT/relative`. */
  readonly paths: readonly string[];
}

/** Tells whether a value is an object, and no list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The patch that an intent was about to apply. */
export function patchOf(key: string, secret: JsonObject | undefined): TornPatch | undefined {
  const digests = secret?.["digests"];
  const patch = Digest.safeParse(isObject(digests) ? digests["patch"] : undefined);
  const scopes = secret?.["scope"];
  if (!patch.success || !Array.isArray(scopes)) return undefined;
  const written = "mount:write:";
  const paths = scopes.filter((each) => typeof each === "string" && each.startsWith(written));
  return { key, patch: patch.data, paths: paths.map((path) => String(path).slice(written.length)) };
}

/** Bytes that a committed outcome staged, kept or applied. */
export function writtenBy(record: JsonObject): number {
  const applied = record["applied"];
  const lists = [
    record["staged"],
    record["scratch"],
    isObject(applied) ? applied["changes"] : undefined,
  ];
  let bytes = 0;
  for (const change of lists.flatMap((list) => Array.isArray(list) ? list : [])) {
    if (isObject(change)) bytes += Number(change["bytes"] ?? 0);
  }
  return bytes;
}
