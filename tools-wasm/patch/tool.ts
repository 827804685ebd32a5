/** The plugin `patch`: reads, stages and merges changes of text. @module */
import { countKind, type FilePatch, pathsOf, sideOf } from "./diff_model.ts";
import { mergeTexts } from "./merge_texts.ts";
import { parseDiff, type ParseOptions } from "./parse_diff.ts";
import { Refusal } from "./refusal.ts";
import { stageDiff } from "./stage_diff.ts";
import { type HostFiles, readWhole } from "./workspace_files.ts";

/** What this plugin uses of the host. */
export interface PatchHost {
  readonly fs: HostFiles;
}

/** Arguments of patch_parse, as tool.yaml describes them. */
export interface ParseArgs extends ParseOptions {
  readonly diff: string;
  readonly lines?: boolean;
}

/** Arguments of patch_stage. */
export interface StageArgs extends ParseOptions {
  readonly diff: string;
  readonly paths: readonly string[];
}

/** Arguments of patch_merge. */
export interface MergeArgs {
  readonly base?: string;
  readonly ours?: string;
  readonly theirs?: string;
  readonly basePath?: string;
  readonly oursPath?: string;
  readonly theirsPath?: string;
  readonly markers?: boolean;
  readonly out?: string;
}

// The gate has checked the arguments against tool.yaml's schemas.
/** The tools, by name. */
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
    throw new Refusal(
      "invalidArguments",
      `Cannot merge: give either \`${name}\` or \`${name}Path\``,
    );
  }
  const read = await readWhole(files, path);
  if (read === undefined) throw new Refusal("notFound", `Cannot merge: "${path}" does not exist`);
  return read;
}
