/** Files of a git tree: which names are allowed on this machine, and where links may lead. @module */
import { Fault } from "../contracts/base/mod.ts";

/** One file of a tree. */
export interface TreeFile {
  /** Relative to the repository's top. */
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  /** Object name of the blob. */
  readonly blob: string;
  readonly bytes: number;
}

/** The part of a tree that may be written on this machine. */
export interface FileTree {
  readonly files: readonly TreeFile[];
  /** Omitted entries: submodules, and links that might lead outside. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
}

const MAX_FILES = 100_000, MAX_BYTES = 512 * 1024 * 1024, MAX_PATH = 4_096;
const MAX_LINK = 1_024;

/** Why a path is not allowed in a working folder; undefined if it is. */
export function badPath(path: string): string | undefined {
  if (path === "" || path.length > MAX_PATH) return "it is empty or too long";
  if (path.includes("\0")) return "it has a NUL";
  for (const part of path.split("/")) {
    if (part === "" || part === "." || part === "..") return `"${part}" is no name`;
    if (new TextEncoder().encode(part).length > 255) return "a name is too long";
    // Like git's own check: characters that some file systems ignore, and Windows' short names.
    const plain = part.normalize("NFKC").replace(
      /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g,
      "",
    )
      .toLowerCase().replace(/[ .]+$/, "");
    if (plain === ".git" || plain === "git~1") return "it lies in .git";
  }
  return undefined;
}

/**
 * Whether a link stays within the tree: `..` only at its beginning, and not above the top. A name
 * before a later `..` could be another link, so that `..` would go up from elsewhere.
 */
export function staysInside(path: string, target: string): boolean {
  if (
    target === "" || target.length > MAX_LINK || target.startsWith("/") || target.includes("\0")
  ) {
    return false;
  }
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const ups = parts.findIndex((part) => part !== "..");
  const up = ups < 0 ? parts.length : ups;
  if (parts.slice(up).includes("..")) return false;
  if (parts.slice(up).some((part) => badPath(part) !== undefined)) return false;
  return up <= path.split("/").length - 1;
}

/** Parses `git ls-tree -r -z -l`. @throws Fault `refused`, `tooLarge` for a tree that must not be written here */
export function parseTree(listed: string): FileTree {
  const files: TreeFile[] = [], left: { path: string; why: string }[] = [];
  let bytes = 0;
  for (const line of listed.split("\0")) {
    if (line === "") continue;
    const tab = line.indexOf("\t");
    const [mode = "", type, blob = "", size = ""] = line.slice(0, tab).split(/ +/);
    const path = line.slice(tab + 1);
    const bad = badPath(path);
    if (bad !== undefined) {
      throw new Fault(
        "refused",
        `Cannot use the repository's file ${JSON.stringify(path.slice(0, 200))}: ${bad}`,
      );
    }
    if (mode === "160000" || type === "commit") {
      left.push({ path, why: "a submodule" });
      continue;
    }
    if (mode !== "100644" && mode !== "100755" && mode !== "120000") {
      throw new Fault(
        "refused",
        `Cannot use the repository's file ${JSON.stringify(path)}: mode ${mode}`,
      );
    }
    bytes += Number(size);
    files.push({ path, mode, blob, bytes: Number(size) });
  }
  if (files.length > MAX_FILES || bytes > MAX_BYTES) {
    throw new Fault(
      "tooLarge",
      `Cannot use the repository: ${files.length} files of ${bytes} bytes; at most ${MAX_FILES} of ${MAX_BYTES}`,
    );
  }
  return { files, left };
}

/** Whether a path is one of these files or in one of these folders. */
export function isAmong(path: string, names: readonly string[]): boolean {
  return names.some((name) =>
    path === name || path.startsWith(name.endsWith("/") ? name : `${name}/`)
  );
}
