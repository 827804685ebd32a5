/** Paths as diffs write them: quoted, with prefixes, with times behind. @module */
import { Refusal } from "./refusal.ts";

/** What stands for "no file". */
export const NO_FILE = "/dev/null";

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

/** Reads the path of a `---`, `+++`, `rename from` … line: C-quoted as git does it, or plain up to a tab. */
export function readPath(written: string): string {
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
  throw new Refusal(
    "invalidInput",
    `Cannot read a path of the diff: ${written} has no closing quote`,
  );
}

/** Takes `strip` leading folders off. `/dev/null` stays. */
export function stripPath(path: string, strip: number): string {
  if (path === NO_FILE || strip === 0) return path;
  const parts = path.split("/");
  if (parts.length <= strip) {
    throw new Refusal("invalidInput", `Cannot take ${strip} folders off "${path}": it has fewer`);
  }
  return parts.slice(strip).join("/");
}

/** Whether a pair of paths carries git's `a/` and `b/`. */
export function hasPrefixes(oldPath: string, newPath: string): boolean {
  if (oldPath === NO_FILE && newPath === NO_FILE) return false;
  return (oldPath.startsWith("a/") || oldPath === NO_FILE) &&
    (newPath.startsWith("b/") || newPath === NO_FILE);
}

/** The two paths of a `diff --git` line; undefined when it cannot be told where the first one ends. */
export function gitPaths(line: string): readonly [string, string] | undefined {
  const rest = line.slice("diff --git ".length);
  if (rest.startsWith('"')) {
    const quoted = /^("(?:[^"\\]|\\.)*") (.+)$/.exec(rest);
    return quoted === null ? undefined : [readPath(quoted[1] ?? ""), readPath(quoted[2] ?? "")];
  }
  const half = (rest.length - 1) / 2;
  const [left, right] = [rest.slice(0, half), rest.slice(half + 1)];
  // Without a rename both names are the same but for their prefixes, so that they are equally long.
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
    throw new Refusal("invalidInput", "Cannot read a path of the diff: its bytes are not UTF-8");
  }
}
