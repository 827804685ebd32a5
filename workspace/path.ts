/**
 * Parses `MOUNT/relative/path`, the only form in which a file name enters the system.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";

/** Maximum length of a path, in UTF-16 units. */
const PATH_LIMIT = 1_024;

/** Maximum length of a part, in bytes of UTF-8: the limit of every common file system. */
const PART_LIMIT = 255;

/** Maximum number of parts of a path. */
export const DEPTH_LIMIT = 64;

/** The mount name of a task's scratch space. */
export const SCRATCH = "scratch";

/** A parsed path: safe to look up beneath a mount's root, in exactly the given form. */
export interface NamedPath {
  /** `MOUNT/relative`, or the mount's name alone for its root. */
  readonly text: string;
  readonly mount: string;
  /** Without the mount; empty for the root. */
  readonly rel: string;
  readonly parts: readonly string[];
}

const encoder = new TextEncoder();
const MOUNT = /^[a-z][a-z0-9_-]{0,31}$/;
/** A control character or line separator. */
// deno-lint-ignore no-control-regex -- this pattern looks for control characters
export const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// A name that decodes to a separator, a dot, a NUL or an overlong form of one of them is meant to
// trick a later decoder; honest names do not need it.
const ENCODED = /%(?:2f|5c|2e|00|c0|c1|e0%[89]|f0%8)/i;
const INVISIBLE = /\p{Cf}/u;

function bad(text: string, why: string): Fault {
  const shown = JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
  return new Fault("invalidArguments", `Cannot use path ${shown}: ${why}`);
}

/**
 * Parses a path strictly.
 *
 * @throws Fault `invalidArguments` for absolute paths, `.` and `..`, empty parts, backslashes,
 * control characters, encoded separators, broken text, and what is too long or too deep
 *
 * @example
 * ```ts
 * import { parsePath } from "./path.ts";
 * parsePath("desk/notes/today.md").rel; // "notes/today.md"
 * ```
 */
export function parsePath(text: string): NamedPath {
  if (text.length === 0) throw bad(text, "it is empty; paths read MOUNT/relative");
  if (text.length > PATH_LIMIT) throw bad(text, `it is longer than ${PATH_LIMIT} characters`);
  if (CONTROL.test(text)) throw bad(text, "it holds a control character");
  if (text.includes("\\")) throw bad(text, "it holds a backslash; parts are separated by /");
  if (text.startsWith("/")) throw bad(text, "it is absolute; paths read MOUNT/relative");
  if (text.startsWith("~")) throw bad(text, "there is no home folder; paths read MOUNT/relative");
  if (ENCODED.test(text)) throw bad(text, "it holds an encoded separator or dot");
  if (!text.isWellFormed() || text.includes("\ufffd")) throw bad(text, "its text is broken");
  const parts = text.split("/");
  if (parts.length > DEPTH_LIMIT) throw bad(text, `it has more than ${DEPTH_LIMIT} parts`);
  for (const part of parts) {
    if (part === "") throw bad(text, "it has an empty part");
    if (part === "." || part === "..") throw bad(text, "it holds a . or .. part");
    if (encoder.encode(part).length > PART_LIMIT) {
      throw bad(text, `a part is longer than ${PART_LIMIT} bytes`);
    }
  }
  const [mount = "", ...rest] = parts;
  if (!MOUNT.test(mount)) throw bad(text, "it does not begin with the name of a mount");
  return Object.freeze({ text, mount, rel: rest.join("/"), parts: Object.freeze(rest) });
}

/** The path in other Unicode forms: a Mac decomposes names (NFD), keyboards compose them (NFC). */
export function formsOf(path: NamedPath): readonly NamedPath[] {
  const forms = (["NFC", "NFD"] as const).map((form) => path.text.normalize(form));
  return [...new Set(forms)].filter((text) => text !== path.text).flatMap((text) => {
    try {
      return [parsePath(text)];
    } catch (error) {
      // A decomposed name is longer, and may be too long.
      if (error instanceof Fault) return [];
      throw error;
    }
  });
}

/**
 * Refuses a path that no tool may write, whatever is there.
 *
 * @throws Fault `invalidArguments`
 */
export function checkWritableName(path: NamedPath): void {
  if (path.rel === "") throw bad(path.text, "it names a mount, not a file");
  if (path.parts.some((part) => part.startsWith(".remit-"))) {
    throw bad(path.text, "names in .remit-* are Remit's own");
  }
}

/**
 * Refuses a path as the name of a new file. Existing files may have any name, but no tool creates a
 * name that looks like another.
 *
 * @throws Fault `invalidArguments`
 */
export function checkNewName(path: NamedPath): void {
  checkWritableName(path);
  if (path.text.normalize("NFC") !== path.text) {
    throw bad(path.text, "a new file's name must be in Unicode normal form C");
  }
  if (INVISIBLE.test(path.text)) {
    throw bad(path.text, "a new file's name must not hold invisible characters");
  }
  for (const part of path.parts) {
    if (part.trim() !== part) throw bad(path.text, "a new name must not begin or end with a space");
  }
}
