/** Patch sets: staged changes taken together, named by their digest, and their reverse. @module */
import type { Digest, TaskId } from "../contracts/authority/ids.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import type { PatchSet, StagedChange } from "../contracts/tool/workspace.ts";
import { digestOf } from "../port/digest.ts";
import { byText } from "./overlay.ts";

/** SHA-256 over the canonical JSON of the changes, sorted by path. */
export function patchDigest(changes: readonly StagedChange[]): Digest {
  const sorted = [...changes].sort((a, b) => byText(a.path, b.path));
  return digestOf(sorted.map(changeJson));
}

/** A change as plain JSON, without absent digests. */
export function changeJson(change: StagedChange): JsonObject {
  const { path, base, next, bytes, colour, label, executable } = change;
  return {
    path,
    ...(base === undefined ? {} : { base }),
    ...(next === undefined ? {} : { next }),
    bytes,
    colour,
    label,
    ...(executable === undefined ? {} : { executable }),
  };
}

/** Changes as a patch set; undefined when there are none. */
export function patchOf(task: TaskId, changes: readonly StagedChange[]): PatchSet | undefined {
  if (changes.length === 0) return undefined;
  const sorted = [...changes].sort((a, b) => byText(a.path, b.path));
  return Object.freeze({ id: patchDigest(sorted), task, changes: sorted });
}

/** The changes that revert these. Sizes of earlier contents are unknown: 0. */
export function reverseOf(changes: readonly StagedChange[]): readonly StagedChange[] {
  return changes.map(({ path, base, next, colour, label }) => ({
    path,
    ...(next === undefined ? {} : { base: next }),
    ...(base === undefined ? {} : { next: base }),
    bytes: 0,
    colour,
    label,
  }));
}
