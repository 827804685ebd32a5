/** The plugin `patch`: parses, stages and merges changes of text. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { type PartReader, readWhole } from "../../text/whole_file.ts";
import { countKind, type FilePatch, pathsOf, sideOf } from "./diff_model.ts";
import { mergeTexts } from "./merge_texts.ts";
import { parseDiff, type ParseOptions } from "./parse_diff.ts";
import { applyHunks, type HunkConflict } from "./apply_hunks.ts";

/** The host functions that this plugin uses. */
export interface PatchHost {
  readonly fs: HostFiles;
}

/** Arguments of patch_parse, as in tool.yaml. */
interface ParseArgs extends ParseOptions {
  readonly diff: string;
  readonly lines?: boolean;
}

/** Arguments of patch_stage. */
interface StageArgs extends ParseOptions {
  readonly diff: string;
  readonly paths: readonly string[];
}

/** Arguments of patch_merge. */
interface MergeArgs {
  readonly base?: string;
  readonly ours?: string;
  readonly theirs?: string;
  readonly basePath?: string;
  readonly oursPath?: string;
  readonly theirsPath?: string;
  readonly markers?: boolean;
  readonly out?: string;
}

// The tools, by name. The gate has checked the arguments against tool.yaml's schemas.
export const tools = Object.freeze({
  patch_parse: (args: ParseArgs) => Promise.resolve(parse(args)),
  patch_stage: (args: StageArgs, remit: PatchHost) =>
    stageDiff(remit.fs, { patches: parseDiff(args.diff, args), listed: args.paths }),
  patch_merge: (args: MergeArgs, remit: PatchHost) => merge(args, remit.fs),
});

function parse(args: ParseArgs) {
  const files = parseDiff(args.diff, args);
  const shown = files.map((file) => ({
    path: file.newPath ?? file.oldPath,
    ...(file.kind === "rename" || file.kind === "copy" ? { from: file.oldPath } : {}),
    kind: file.kind,
    ...(file.mode === undefined ? {} : { mode: file.mode }),
    added: countKind(file.hunks, "add"),
    removed: countKind(file.hunks, "drop"),
    hunks: hunksOf(file, args.lines ?? false),
  }));
  const sum = (key: "added" | "removed") => shown.reduce((total, file) => total + file[key], 0);
  return { files: shown, paths: pathsOf(files), added: sum("added"), removed: sum("removed") };
}

const SIGN = { keep: " ", drop: "-", add: "+" } as const;

function hunksOf(file: FilePatch, withLines: boolean) {
  return file.hunks.map((hunk) => ({
    ...(hunk.oldStart === undefined ? {} : { oldStart: hunk.oldStart }),
    oldLines: sideOf(hunk, "old").length,
    ...(hunk.newStart === undefined ? {} : { newStart: hunk.newStart }),
    newLines: sideOf(hunk, "new").length,
    ...(hunk.section === "" ? {} : { section: hunk.section }),
    ...(withLines ? { lines: hunk.lines.map(({ kind, line }) => SIGN[kind] + line.text) } : {}),
  }));
}

async function merge(args: MergeArgs, files: HostFiles) {
  const merged = mergeTexts({
    base: await version(files, "base", [args.base, args.basePath]),
    ours: await version(files, "ours", [args.ours, args.oursPath]),
    theirs: await version(files, "theirs", [args.theirs, args.theirsPath]),
  });
  const clean = merged.conflicts.length === 0;
  const usable = clean || args.markers === true;
  if (usable && args.out !== undefined) await files.write({ path: args.out, text: merged.text });
  return {
    clean,
    ...(usable && args.out === undefined ? { text: merged.text } : {}),
    ...(usable && args.out !== undefined ? { staged: args.out } : {}),
    conflicts: merged.conflicts,
  };
}

async function version(
  files: HostFiles,
  name: string,
  [text, path]: readonly [string | undefined, string | undefined],
): Promise<string> {
  if (text !== undefined && path === undefined) return text;
  if (text !== undefined || path === undefined) {
    throw new Fault(
      "invalidArguments",
      `Cannot merge: give either \`${name}\` or \`${name}Path\``,
    );
  }
  const read = await tryWhole(files, path);
  if (read === undefined) throw new Fault("notFound", `Cannot merge: "${path}" does not exist`);
  return read;
}

// Applies a diff to the workspace, and stages it completely or not at all.

/** The result for one file. */
interface StagedFile {
  readonly path: string;
  readonly kind: FilePatch["kind"];
  readonly from?: string;
  /** Lines by which hunks were moved; absent for none. */
  readonly offsets?: readonly number[];
  /** Remarks: differing line ends, an unapplied mode. */
  readonly notes?: readonly string[];
}

/** Why a file cannot take its hunks. */
type FileConflict = { readonly path: string } & HunkConflict;

/** Everything staged, or nothing and the conflicts. */
type StageResult =
  | { readonly applied: true; readonly files: readonly StagedFile[] }
  | { readonly applied: false; readonly conflicts: readonly FileConflict[] };

/** The text of each path after the diff; null for a path that will not exist. */
type Desk = Map<string, string | null>;

/**
 * Applies `patches` and stages the results.
 *
 * @throws {Fault} `invalidArguments` for a file that `listed` lacks, `refused` for a binary change
 */
async function stageDiff(
  files: HostFiles,
  { patches, listed }: {
    readonly patches: readonly FilePatch[];
    readonly listed: readonly string[];
  },
): Promise<StageResult> {
  refuseUnlisted(patches, listed);
  const before: Desk = new Map();
  for (const path of pathsOf(patches)) before.set(path, (await tryWhole(files, path)) ?? null);
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
    throw new Fault(
      "invalidArguments",
      `Cannot stage the diff: it names ${missing.map((path) => `"${path}"`).join(", ")}, ` +
        "which `paths` does not list. List every file it touches as MOUNT/relative, or pass another `strip`",
    );
  }
  const binary = patches.find(({ kind }) => kind === "binary");
  if (binary !== undefined) {
    const path = binary.newPath ?? binary.oldPath ?? "";
    throw new Fault("refused", `Cannot stage the diff: the change of "${path}" is binary`);
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

// The files that a call may touch, through the host's functions.

/** The used part of `remit.fs`. */
interface HostFiles extends PartReader {
  write(args: { readonly path: string; readonly text: string }): Promise<unknown>;
  delete(args: { readonly path: string }): Promise<unknown>;
}

/** Maximum bytes of a file that is patched or merged: 4 MiB. */
const FILE_BYTES = 4 * 1024 * 1024;

/** The whole text of a file; undefined when there is none. @throws {Fault} as {@link readWhole} */
async function tryWhole(files: HostFiles, path: string): Promise<string | undefined> {
  try {
    return await readWhole(files, path, FILE_BYTES);
  } catch (error) {
    if (
      typeof error === "object" && error !== null && "code" in error && error.code === "notFound"
    ) {
      return undefined;
    }
    throw error;
  }
}
