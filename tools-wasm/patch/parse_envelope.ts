/**
 * Reads a patch in the form `*** Begin Patch`, as models write it: files by name, hunks without numbers.
 *
 * ```text
 * *** Begin Patch
 * *** Update File: desk/plan.md
 * @@
 *  # Plan
 * -old
 * +new
 * *** End Patch
 * ```
 *
 * @module
 */
import type { FilePatch, Hunk, HunkLine } from "./diff_model.ts";
import type { Line } from "./lines.ts";
import { isHunkHead, readHunk } from "./parse_hunk.ts";
import { Refusal } from "./refusal.ts";

const BEGIN = "*** Begin Patch", END = "*** End Patch", LAST_LINES = "*** End of File";
const FILE = /^\*\*\* (Add|Update|Delete) File: +(.+?) *$/;
const MOVE = /^\*\*\* Move to: +(.+?) *$/;

/** What has been read, and the index of the line behind it. */
interface ReadFile {
  readonly patch: FilePatch;
  readonly next: number;
}

/**
 * The files of a patch in this form; undefined for a diff in another.
 *
 * @throws {Refusal} `invalidInput` with the line that does not fit.
 */
export function readEnvelope(lines: readonly Line[]): readonly FilePatch[] | undefined {
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
  throw new Refusal(
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
    // The first hunk of a file may stand without a head.
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

function bad(at: number, why: string): Refusal {
  return new Refusal("invalidInput", `Cannot read the patch: line ${at + 1} ${why}`);
}
