/** Parses a unified diff, with or without git's headers. @module */
import { Fault } from "../../contracts/base/fault.ts";
import {
  type FileKind,
  type FilePatch,
  type Hunk,
  type HunkLine,
  type Line,
  splitLines,
} from "./diff_model.ts";
import { isFileHead, isHunkHead, readHunk } from "./parse_hunk.ts";

/** How to parse a diff. */
export interface ParseOptions {
  /** Leading folders to remove; absent: `a/` and `b/`. */
  readonly strip?: number;
  /** Ignore the counts in hunk heads. */
  readonly recount?: boolean;
}

/** The parsed part of one file so far. */
interface Draft {
  readonly git: boolean;
  /** Whether a `diff --git` line was parsed, but not its `---` and `+++`. */
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
 * @throws {Fault} `invalidInput` with the offending line
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
      if (draft === undefined) throw new Fault("invalidInput", noFile(at));
      const { hunk, next } = readHunk(lines, { at, recount: options.recount ?? false });
      draft.hunks.push(hunk);
      at = next;
      continue;
    } else if (draft !== undefined) readExtended(draft, text);
    at += 1;
  }
  if (drafts.length === 0) {
    throw new Fault(
      "invalidInput",
      'Cannot read the diff: no file is named ("--- a/…" and "+++ b/…", or "*** Update File: …")',
    );
  }
  return drafts.map((done) => finish(done, options.strip));
}

/** A diff with CRLF throughout reveals nothing about the ends of the file's own lines. */
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
    throw new Fault(
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
    throw new Fault("invalidInput", "Cannot read the diff: both sides are /dev/null");
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
    throw new Fault(
      "invalidInput",
      `Cannot read the diff: "${oldPath}" and "${newPath}" differ, and there is no "rename from" line`,
    );
  }
  if (draft.hunks.length > 0) return "change";
  if (draft.git) return "mode";
  throw new Fault("invalidInput", `Cannot read the diff: "${newPath}" has no hunks`);
}

function noFile(at: number): string {
  return `Cannot read the diff: the hunk in line ${
    at + 1
  } stands before any file ("--- a/…" and "+++ b/…")`;
}

// Paths as diffs write them: quoted, prefixed, or followed by times.

/** Stands for "no file". */
const NO_FILE = "/dev/null";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  '"': '"',
  "\\": "\\",
};

/** Parses the path of a `---`, `+++` or `rename from` line: C-quoted by git, or up to a tab. */
function readPath(written: string): string {
  if (!written.startsWith('"')) return (written.split("\t", 1)[0] ?? "").trimEnd();
  let bytes = "";
  for (let at = 1; at < written.length; at += 1) {
    const char = written[at] ?? "";
    if (char === '"') return fromUtf8(bytes);
    if (char !== "\\") {
      bytes += encodeURIComponent(pairAt(written, at));
      if (pairAt(written, at).length === 2) at += 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(written.slice(at + 1, at + 4))?.[0];
    if (octal === undefined) {
      bytes += encodeURIComponent(ESCAPES[written[at + 1] ?? ""] ?? "\\");
      at += 1;
    } else {
      bytes += `%${Number.parseInt(octal, 8).toString(16).padStart(2, "0")}`;
      at += 3;
    }
  }
  throw new Fault(
    "invalidInput",
    `Cannot read a path of the diff: ${written} has no closing quote`,
  );
}

/** Removes `strip` leading folders. `/dev/null` stays. */
function stripPath(path: string, strip: number): string {
  if (path === NO_FILE || strip === 0) return path;
  const parts = path.split("/");
  if (parts.length <= strip) {
    throw new Fault("invalidInput", `Cannot take ${strip} folders off "${path}": it has fewer`);
  }
  return parts.slice(strip).join("/");
}

/** Whether a pair of paths has git's `a/` and `b/`. */
function hasPrefixes(oldPath: string, newPath: string): boolean {
  if (oldPath === NO_FILE && newPath === NO_FILE) return false;
  return (oldPath.startsWith("a/") || oldPath === NO_FILE) &&
    (newPath.startsWith("b/") || newPath === NO_FILE);
}

/** The two paths of a `diff --git` line; undefined if the end of the first is ambiguous. */
function gitPaths(line: string): readonly [string, string] | undefined {
  const rest = line.slice("diff --git ".length);
  if (rest.startsWith('"')) {
    const quoted = /^("(?:[^"\\]|\\.)*") (.+)$/.exec(rest);
    return quoted === null ? undefined : [readPath(quoted[1] ?? ""), readPath(quoted[2] ?? "")];
  }
  const half = (rest.length - 1) / 2;
  const [left, right] = [rest.slice(0, half), rest.slice(half + 1)];
  // Without a rename both names differ only in their prefixes, so they have equal length.
  if (rest[half] === " " && left.slice(2) === right.slice(2)) return [left, right];
  const parts = rest.split(" ");
  return parts.length === 2 ? [parts[0] ?? "", parts[1] ?? ""] : undefined;
}

function pairAt(text: string, at: number): string {
  const point = text.codePointAt(at) ?? 0;
  // A lone surrogate has no bytes.
  return point >= 0xd800 && point <= 0xdfff ? "\ufffd" : String.fromCodePoint(point);
}

function fromUtf8(percent: string): string {
  try {
    return decodeURIComponent(percent);
  } catch {
    throw new Fault("invalidInput", "Cannot read a path of the diff: its bytes are not UTF-8");
  }
}

// Parses a patch in the form that models write: after `*** Begin Patch`, files by name (`*** Update
// File: desk/plan.md`) with hunks without numbers (`@@ # Plan`), up to `*** End Patch`.

const BEGIN = "*** Begin Patch", END = "*** End Patch", LAST_LINES = "*** End of File";
const FILE = /^\*\*\* (Add|Update|Delete) File: +(.+?) *$/;
const MOVE = /^\*\*\* Move to: +(.+?) *$/;

/** A parsed file, and the index of the line behind it. */
interface ReadFile {
  readonly patch: FilePatch;
  readonly next: number;
}

/**
 * The files of a patch in this form; undefined for any other diff.
 *
 * @throws {Fault} `invalidInput` with the offending line
 */
function readEnvelope(lines: readonly Line[]): readonly FilePatch[] | undefined {
  const first = lines.findIndex(({ text }) => text.trim() !== "" && !text.startsWith("```"));
  if (lines[first]?.text.trimEnd() !== BEGIN) return undefined;
  const files: FilePatch[] = [];
  for (let at = first + 1; at < lines.length;) {
    const text = lines[at]?.text.trimEnd() ?? "";
    if (text === END) break;
    if (text === "") {
      at += 1;
      continue;
    }
    const { patch, next } = readFile(lines, at);
    files.push(patch);
    at = next;
  }
  if (files.length > 0) return files;
  throw new Fault(
    "invalidInput",
    'Cannot read the patch: no file is named ("*** Update File: MOUNT/relative")',
  );
}

function readFile(lines: readonly Line[], at: number): ReadFile {
  const [, verb, path = ""] = FILE.exec(lines[at]?.text ?? "") ?? [];
  if (verb === "Delete") {
    return { patch: { kind: "delete", oldPath: path, hunks: [], whole: true }, next: at + 1 };
  }
  if (verb === "Add") {
    const { hunk, next } = readAdded(lines, at + 1);
    return {
      patch: { kind: "new", newPath: path, hunks: hunk.lines.length === 0 ? [] : [hunk] },
      next,
    };
  }
  if (verb !== "Update") {
    throw bad(
      at,
      'names no file: it reads "*** Update File: …", "*** Add File: …" or "*** Delete File: …"',
    );
  }
  const moved = MOVE.exec(lines[at + 1]?.text ?? "")?.[1];
  const { hunks, next } = readHunks(lines, at + (moved === undefined ? 1 : 2));
  if (hunks.length === 0 && moved === undefined) throw bad(at, `changes nothing of "${path}"`);
  const newPath = moved ?? path;
  const kind = newPath === path ? "change" : "rename";
  return { patch: { kind, oldPath: path, newPath, hunks }, next };
}

function readHunks(
  lines: readonly Line[],
  from: number,
): { readonly hunks: readonly Hunk[]; readonly next: number } {
  const hunks: Hunk[] = [];
  let at = from;
  while (at < lines.length) {
    const text = lines[at]?.text ?? "";
    if (text.trimEnd() === LAST_LINES || text === "") {
      at += 1;
      continue;
    }
    // The first hunk of a file may have no head.
    const headless = hunks.length === 0 && /^[-+ ]/.test(text);
    if (!headless && !isHunkHead(text)) break;
    const { hunk, next } = readHunk(lines, { at, recount: true, headless });
    hunks.push(hunk);
    at = next;
  }
  return { hunks, next: at };
}

function readAdded(
  lines: readonly Line[],
  from: number,
): { readonly hunk: Hunk; readonly next: number } {
  const added: HunkLine[] = [];
  let at = from;
  for (; at < lines.length && !(lines[at]?.text ?? "").startsWith("*** "); at += 1) {
    const { text, end } = lines[at] ?? { text: "", end: "" };
    if (text === "" || text.startsWith("```")) continue;
    if (!text.startsWith("+")) throw bad(at, `stands in a new file and does not begin with "+"`);
    added.push({ kind: "add", line: { text: text.slice(1), end: end === "" ? "\n" : end } });
  }
  return { hunk: { oldStart: 0, newStart: 1, section: "", lines: added }, next: at };
}

function bad(at: number, why: string): Fault {
  return new Fault("invalidInput", `Cannot read the patch: line ${at + 1} ${why}`);
}
