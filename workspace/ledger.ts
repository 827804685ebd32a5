/**
 * What a task has staged, applied, kept and published, folded from its committed outcomes. @module
 */
import * as z from "zod";
import { Digest } from "../contracts/authority/ids.ts";
import { Colour } from "../contracts/authority/colour.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import { Artifact, StagedChange } from "../contracts/tool/workspace.ts";
import { makeOverlay, type Overlay } from "./overlay.ts";
import { SCRATCH } from "./path.ts";

/** An applied patch, with the folders it made, which undo needs. */
export const AppliedPatch = z.object({
  patch: Digest,
  changes: z.array(StagedChange).max(10_000),
  made: z.array(z.string().max(4_096)).max(100_000).default([]),
});
export type AppliedPatch = z.infer<typeof AppliedPatch>;

/** Contents that a person saw whole and approved: which, from and to which colour, and by whom. */
export const SanitizedContents = z.object({
  by: z.string().max(160),
  question: z.string().max(64),
  contents: z.array(z.object({ path: z.string(), digest: Digest, from: Colour, to: Colour })),
});
export type SanitizedContents = z.infer<typeof SanitizedContents>;

/** A tool outcome's record in the private part of its event. */
export const WorkspaceRecord = z.object({
  staged: z.array(StagedChange).optional(),
  unstaged: z.array(z.string()).optional(),
  scratch: z.array(StagedChange).optional(),
  applied: AppliedPatch.optional(),
  /** The new colours of a patch's contents after a person approved it. */
  sanitized: SanitizedContents.optional(),
  /** `left`: paths of the patch that stay applied; absent: none. */
  undone: z.object({ patch: Digest, left: z.array(z.string()).optional() }).optional(),
  artifact: Artifact.optional(),
  /** Files that one result of an imported server contained besides its text. */
  artifacts: z.array(Artifact).max(64).optional(),
});

/** A task's state at the last start of the kernel. */
export interface Restored {
  readonly overlay: readonly StagedChange[];
  readonly applied: readonly AppliedPatch[];
  readonly artifacts: readonly Artifact[];
}

/** The ledger of one task. */
export interface Ledger {
  /** Staged changes and scratch files. */
  readonly overlay: Overlay;
  staged(): readonly StagedChange[];
  applied(): readonly AppliedPatch[];
  artifacts(): readonly Artifact[];
  /** Folds one outcome's record. Ignores keys of other parts. */
  fold(record: JsonObject): void;
}

/** Makes a ledger, restored or empty. */
export function makeLedger(restored?: Restored): Ledger {
  const overlay = makeOverlay(restored?.overlay);
  let applied: readonly AppliedPatch[] = restored?.applied ?? [];
  const artifacts = new Map((restored?.artifacts ?? []).map((one) => [one.id, one]));

  return Object.freeze({
    overlay,
    staged: () => overlay.list().filter((change) => !change.path.startsWith(`${SCRATCH}/`)),
    applied: () => applied,
    artifacts: () => [...artifacts.values()],
    fold(given: JsonObject): void {
      const found = WorkspaceRecord.parse(given);
      for (const change of found.staged ?? []) overlay.put(change);
      for (const change of found.scratch ?? []) overlay.put(change);
      for (const path of found.unstaged ?? []) overlay.drop(path);
      if (found.applied !== undefined) {
        applied = [...applied, found.applied];
        for (const { path, next } of found.applied.changes) {
          if (overlay.get(path)?.next === next) overlay.drop(path);
        }
      }
      if (found.undone !== undefined) {
        const { patch: undone, left } = found.undone, standing = new Set(left);
        const last = applied.findLastIndex(({ patch }) => patch === undone);
        applied = applied.flatMap((one, index) => {
          if (index !== last) return [one];
          const changes = one.changes.filter(({ path }) => standing.has(path));
          return changes.length === 0 ? [] : [{ ...one, changes }];
        });
      }
      const made = found.artifact === undefined ? [] : [found.artifact];
      for (const each of [...made, ...found.artifacts ?? []]) artifacts.set(each.id, each);
    },
  });
}
