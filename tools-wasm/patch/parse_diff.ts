/** Reads a unified diff, with or without git's headers. @module */
import type { FileKind, FilePatch, Hunk } from "./diff_model.ts";
import { gitPaths, hasPrefixes, NO_FILE, readPath, stripPath } from "./diff_paths.ts";
import { type Line, splitLines } from "./lines.ts";
import { isFileHead, isHunkHead, readHunk } from "./parse_hunk.ts";
import { readEnvelope } from "./parse_envelope.ts";
import { Refusal } from "./refusal.ts";

/** How to read a diff. */
export interface ParseOptions {
  /** Leading folders to take off; `a/` and `b/` when absent. */
  readonly strip?: number;
  /** Do not believe the counts of hunk heads. */
  readonly recount?: boolean;
}

/** What has been read of one file so far. */
interface Draft {
  readonly git: boolean;
  /** A `diff --git` line was read, and its `---` and `+++` were not. */
  awaitsHead?: boolean;
  /** From `diff --git`, or `---` and `+++`. */
  pair?: readonly [string, string];
  /** From `rename from`, `copy to`, …: never prefixed. */
  moved: { from?: string; to?: string };
  kind?: FileKind;
  mode?: string;
  hunks: Hunk[];
}

/**
 * Parses a diff into its files.
 *
 * @throws {Refusal} `invalidInput` with the line that does not fit.
 */
export function parseDiff(diff: string, options: ParseOptions = {}): readonly FilePatch[] {
  const lines = withoutCarriage(splitLines(diff));
  const envelope = readEnvelope(lines);
  if (envelope !== undefined) return envelope;
  const drafts: Draft[] = [];
  let draft: Draft | undefined;
  let at = 0;
  while (at < lines.length) {
    const text = lines[at]?.text ?? "";
    if (text.startsWith("diff --git ")) {
      const pair = gitPaths(text);
      draft = {
        ...(pair === undefined ? {} : { pair }),
        git: true,
        awaitsHead: true,
        moved: {},
        hunks: [],
      };
      drafts.push(draft);
    } else if (isFileHead(lines, at)) {
      if (draft?.awaitsHead !== true) {
        draft = { git: false, moved: {}, hunks: [] };
        drafts.push(draft);
      }
      draft.awaitsHead = false;
      draft.pair = [readPath(text.slice(4)), readPath(lines[at + 1]?.text.slice(4) ?? "")];
      at += 1;
    } else if (isHunkHead(text)) {
      if (draft === undefined) throw new Refusal("invalidInput", noFile(at));
      const { hunk, next } = readHunk(lines, { at, recount: options.recount ?? false });
      draft.hunks.push(hunk);
      at = next;
      continue;
    } else if (draft !== undefined) readExtended(draft, text);
    at += 1;
  }
  if (drafts.length === 0) {
    throw new Refusal(
      "invalidInput",
      'Cannot read the diff: no file is named ("--- a/…" and "+++ b/…", or "*** Update File: …")',
    );
  }
  return drafts.map((done) => finish(done, options.strip));
}

/** A diff that came with CRLF throughout says nothing about the ends of the file's own lines. */
function withoutCarriage(lines: readonly Line[]): readonly Line[] {
  if (lines.some(({ end }) => end === "\n")) return lines;
  return lines.map(({ text, end }) => ({ text, end: end === "" ? "" : "\n" }));
}

const WORDS: readonly (readonly [string, (draft: Draft, rest: string) => void])[] = [
  ["new file mode ", (draft, rest) => Object.assign(draft, { kind: "new", mode: rest })],
  ["deleted file mode ", (draft) => Object.assign(draft, { kind: "delete" })],
  ["rename from ", (draft, rest) => {
    draft.kind = "rename";
    draft.moved.from = readPath(rest);
  }],
  ["rename to ", (draft, rest) => {
    draft.moved.to = readPath(rest);
  }],
  ["copy from ", (draft, rest) => {
    draft.kind = "copy";
    draft.moved.from = readPath(rest);
  }],
  ["copy to ", (draft, rest) => {
    draft.moved.to = readPath(rest);
  }],
  ["new mode ", (draft, rest) => Object.assign(draft, { mode: rest })],
  ["GIT binary patch", (draft) => Object.assign(draft, { kind: "binary" })],
  ["Binary files ", (draft) => Object.assign(draft, { kind: "binary" })],
];

function readExtended(draft: Draft, text: string): void {
  if (draft.hunks.length > 0) return;
  for (const [word, read] of WORDS) {
    if (text.startsWith(word)) return read(draft, text.slice(word.length));
  }
}

function finish(draft: Draft, strip: number | undefined): FilePatch {
  const pair = draft.pair ?? [undefined, undefined];
  const auto = pair[0] !== undefined && pair[1] !== undefined && hasPrefixes(pair[0], pair[1])
    ? 1
    : 0;
  const taken = strip ?? auto;
  const before = draft.moved.from ?? pair[0];
  const after = draft.moved.to ?? pair[1];
  if (before === undefined || after === undefined) {
    throw new Refusal(
      "invalidInput",
      'Cannot read the diff: a "diff --git" line names no two paths',
    );
  }
  const stripOf = (path: string, moved: boolean): string =>
    stripPath(path, moved ? Math.max(0, strip === undefined ? 0 : strip - 1) : taken);
  const oldPath = stripOf(before, draft.moved.from !== undefined);
  const newPath = stripOf(after, draft.moved.to !== undefined);
  const kind = draft.kind ?? kindOf(draft, oldPath, newPath);
  if (oldPath === NO_FILE && newPath === NO_FILE) {
    throw new Refusal("invalidInput", "Cannot read the diff: both sides are /dev/null");
  }
  return {
    kind,
    ...(kind === "new" || oldPath === NO_FILE ? {} : { oldPath }),
    ...(kind === "delete" || newPath === NO_FILE ? {} : { newPath }),
    hunks: draft.hunks,
    ...(draft.mode === undefined ? {} : { mode: draft.mode }),
  };
}

function kindOf(draft: Draft, oldPath: string, newPath: string): FileKind {
  if (oldPath === NO_FILE) return "new";
  if (newPath === NO_FILE) return "delete";
  if (oldPath !== newPath) {
    throw new Refusal(
      "invalidInput",
      `Cannot read the diff: "${oldPath}" and "${newPath}" differ, and there is no "rename from" line`,
    );
  }
  if (draft.hunks.length > 0) return "change";
  if (draft.git) return "mode";
  throw new Refusal("invalidInput", `Cannot read the diff: "${newPath}" has no hunks`);
}

function noFile(at: number): string {
  return `Cannot read the diff: the hunk in line ${
    at + 1
  } stands before any file ("--- a/…" and "+++ b/…")`;
}
