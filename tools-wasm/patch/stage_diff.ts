/** Works out what a diff makes of the workspace, and stages it whole or not at all. @module */
import { applyHunks, type HunkConflict } from "./apply_hunks.ts";
import { type FilePatch, pathsOf } from "./diff_model.ts";
import { Refusal } from "./refusal.ts";
import { type HostFiles, readWhole } from "./workspace_files.ts";

/** What became of one file. */
export interface StagedFile {
  readonly path: string;
  readonly kind: FilePatch["kind"];
  readonly from?: string;
  /** Lines by which hunks were moved, when any was. */
  readonly offsets?: readonly number[];
  /** What is worth knowing: line ends that differed, a mode that was left as it is. */
  readonly notes?: readonly string[];
}

/** Why a file cannot take its hunks. */
export type FileConflict = { readonly path: string } & HunkConflict;

/** Everything staged, or nothing and why. */
export type StageResult =
  | { readonly applied: true; readonly files: readonly StagedFile[] }
  | { readonly applied: false; readonly conflicts: readonly FileConflict[] };

/** Text of a path after the diff; null when it will not exist. */
type Desk = Map<string, string | null>;

/**
 * Applies `patches` and stages the results.
 *
 * @throws {Refusal} `invalidArguments` when a file is named that `listed` lacks, `refused` for a binary change.
 */
export async function stageDiff(
  files: HostFiles,
  { patches, listed }: {
    readonly patches: readonly FilePatch[];
    readonly listed: readonly string[];
  },
): Promise<StageResult> {
  refuseUnlisted(patches, listed);
  const before: Desk = new Map();
  for (const path of pathsOf(patches)) before.set(path, (await readWhole(files, path)) ?? null);
  const after: Desk = new Map(before);
  const staged: StagedFile[] = [];
  const conflicts: FileConflict[] = [];
  for (const patch of patches) {
    const result = applyOne(after, patch);
    if ("staged" in result) staged.push(result.staged);
    else conflicts.push(...result.conflicts);
  }
  if (conflicts.length > 0) return { applied: false, conflicts };
  for (const [path, text] of after) {
    if (text === before.get(path)) continue;
    if (text === null) await files.delete({ path });
    else await files.write({ path, text });
  }
  return { applied: true, files: staged };
}

function refuseUnlisted(patches: readonly FilePatch[], listed: readonly string[]): void {
  const known = new Set(listed);
  const missing = pathsOf(patches).filter((path) => !known.has(path));
  if (missing.length > 0) {
    throw new Refusal(
      "invalidArguments",
      `Cannot stage the diff: it names ${missing.map((path) => `"${path}"`).join(", ")}, ` +
        "which `paths` does not list. List every file it touches as MOUNT/relative, or pass another `strip`",
    );
  }
  const binary = patches.find(({ kind }) => kind === "binary");
  if (binary !== undefined) {
    const path = binary.newPath ?? binary.oldPath ?? "";
    throw new Refusal("refused", `Cannot stage the diff: the change of "${path}" is binary`);
  }
}

type One = { readonly staged: StagedFile } | { readonly conflicts: readonly FileConflict[] };

function applyOne(desk: Desk, patch: FilePatch): One {
  const path = patch.newPath ?? patch.oldPath ?? "";
  const source = patch.oldPath === undefined ? null : desk.get(patch.oldPath) ?? null;
  const moves = patch.kind === "rename" || patch.kind === "copy";
  if (patch.kind === "new" && (desk.get(path) ?? null) !== null) {
    return refuse(path, "the diff makes it, and it is there already");
  }
  if (patch.kind !== "new" && source === null) {
    return refuse(patch.oldPath ?? "", "the diff changes it, and it is not there");
  }
  if (moves && patch.newPath !== patch.oldPath && (desk.get(path) ?? null) !== null) {
    return refuse(path, `the diff makes it by a ${patch.kind}, and it is there already`);
  }
  const applied = applyHunks(source ?? "", patch.hunks);
  if (applied.kind === "conflicts") {
    return { conflicts: applied.conflicts.map((conflict) => ({ path, ...conflict })) };
  }
  if (patch.kind === "delete") {
    if (applied.text !== "" && patch.whole !== true) {
      return refuse(path, "the diff deletes it, and lines would be left");
    }
    desk.set(path, null);
  } else {
    if (patch.kind === "rename" && patch.oldPath !== undefined) desk.set(patch.oldPath, null);
    desk.set(path, applied.text);
  }
  const notes = [
    ...(applied.keptEnds ? ["its line ends differ from the diff's and were kept"] : []),
    ...(patch.mode === undefined ? [] : [`its mode was not set to ${patch.mode}`]),
  ];
  return {
    staged: {
      path,
      kind: patch.kind,
      ...(moves && patch.oldPath !== undefined ? { from: patch.oldPath } : {}),
      ...(applied.offsets.some((offset) => offset !== 0) ? { offsets: applied.offsets } : {}),
      ...(notes.length > 0 ? { notes } : {}),
    },
  };
}

function refuse(path: string, why: string): One {
  return { conflicts: [{ path, hunk: 0, line: 0, why, expected: [], found: [] }] };
}
