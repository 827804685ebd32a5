/**
 * Checks trees against their digests. The first check in a process reads the whole tree; later ones
 * compare the file system's metadata of each file.
 * @module
 */
import { Fault, type Json, type PortHandler } from "../../../contracts/base/mod.ts";
import { McpTreeAsk } from "../../../contracts/wire/mod.ts";
import { createHash } from "node:crypto";

interface TreeChecks {
  /** Undefined when the tree is unchanged, else what differs, in words. Never throws a {@link Fault}. */
  check(root: string, sha256: string): string | undefined;
}

interface Known {
  readonly sha256: string;
  readonly table: string;
}

/** Makes checks that remember the trees that they have read. */
export function makeTreeChecks(disk: TreeDisk): TreeChecks {
  const known = new Map<string, Known>();

  const differs = (root: string, sha256: string): string | undefined => {
    // INVARIANT: the table is taken before the bytes are read, so that a change meanwhile shows
    // next time.
    const entries = walkTree(root, disk), table = statTable(entries);
    const before = known.get(root);
    if (before?.sha256 === sha256 && before.table === table) return undefined;
    known.delete(root);
    const found = digestEntries(root, entries, disk);
    if (found.sha256 !== sha256) {
      return `its ${found.files} files have the digest ${found.sha256.slice(0, 12)}…, ` +
        `reviewed were those of ${sha256.slice(0, 12)}…`;
    }
    known.set(root, { sha256, table });
    return undefined;
  };

  return Object.freeze({
    check(root: string, sha256: string): string | undefined {
      try {
        return differs(root, sha256);
      } catch (error) {
        if (error instanceof Fault) return error.message;
        // Missing, unreadable, or changed during the walk: the tree is not the pinned one.
        if (error instanceof Error) return `it cannot be read (${error.name})`;
        throw error;
      }
    },
  });
}

/** Metadata of each file: any write, replacement, addition or removal changes the table. */
function statTable(entries: readonly TreeEntry[]): string {
  return entries.map(({ path, stat }) => `${line(stat)} ${path}`).join("\n");
}

function line({ mode, bytes, mtime, ctime, ino }: TreeStat): string {
  return `${mode} ${bytes} ${mtime} ${ctime} ${ino}`;
}

interface TreeDigest {
  /** SHA-256 over the sorted lines `MODE SHA256 PATH\n`: six octal digits, a link's of its text. */
  readonly sha256: string;
  /** Files and links. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * Computes the digest of a whole tree.
 *
 * @throws Fault `refused`, `tooLarge` as {@link walkTree}; `refused` for a link that leads out of
 * the tree
 */
export function digestTree(root: string, disk: TreeDisk): TreeDigest {
  return digestEntries(root, walkTree(root, disk), disk);
}

function digestEntries(
  root: string,
  entries: readonly TreeEntry[],
  disk: Pick<TreeDisk, "hash" | "link">,
): TreeDigest {
  let bytes = 0;
  const lines = entries.map(({ path, stat }) => {
    const mode = stat.mode.toString(8).padStart(6, "0");
    if (stat.kind === "link") {
      const text = disk.link(`${root}/${path}`);
      if (leadsOut(path, text)) throw refused(path, "it is a link that leads out of it");
      return `${mode} ${createHash("sha256").update(text).digest("hex")} ${path}\n`;
    }
    const { sha256, bytes: length } = disk.hash(`${root}/${path}`);
    bytes += length;
    return `${mode} ${sha256} ${path}\n`;
  });
  const hash = createHash("sha256");
  for (const line of lines.sort()) hash.update(line);
  return { sha256: hash.digest("hex"), files: entries.length, bytes };
}

function leadsOut(path: string, text: string): boolean {
  if (text.startsWith("/")) return true;
  let depth = path.split("/").length - 1;
  for (const part of text.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

const MAX_FILES = 200_000;
const MAX_DEPTH = 64;

interface TreeEntry {
  /** Path relative to the tree, with `/`. */
  readonly path: string;
  readonly stat: TreeStat;
}

/**
 * Lists files and links, sorted by name in each folder.
 *
 * @throws Fault `refused` for any other kind of file, a name with control characters, too deep a
 * folder; `tooLarge` for too many files
 */
function walkTree(root: string, disk: Pick<TreeDisk, "list" | "stat">): TreeEntry[] {
  const found: TreeEntry[] = [];
  const into = (folder: string, prefix: string, depth: number): void => {
    if (depth > MAX_DEPTH) throw refused(prefix, "it lies too deep");
    for (const name of [...disk.list(folder)].sort()) {
      const path = prefix + name;
      // deno-lint-ignore no-control-regex -- a line break would forge a line of what is hashed
      if (/[\0-\x1f\x7f]/.test(name)) throw refused(path, "its name holds a control character");
      const stat = disk.stat(`${folder}/${name}`);
      if (stat.kind === "folder") {
        into(`${folder}/${name}`, `${path}/`, depth + 1);
        continue;
      }
      if (stat.kind === "other") throw refused(path, "it is neither a file, a folder nor a link");
      if (found.push({ path, stat }) > MAX_FILES) {
        throw new Fault("tooLarge", `Cannot read this tree: more than ${MAX_FILES} files`);
      }
    }
  };
  into(root, "", 0);
  return found;
}

function refused(path: string, why: string): Fault {
  return new Fault("refused", `Cannot read ${JSON.stringify(path)} of a tree: ${why}`);
}

/** The metadata of an entry of a folder. */
export interface TreeStat {
  readonly kind: "file" | "folder" | "link" | "other";
  /** `st_mode`, with the kind of file. */
  readonly mode: number;
  readonly bytes: number;
  /** Milliseconds since 1970, with fractions. */
  readonly mtime: number;
  readonly ctime: number;
  readonly ino: number;
}

/** Reads files, folders and links by absolute path, following no link. Throws the system's errors. */
export interface TreeDisk {
  /** Names in a folder, in any order. */
  list(folder: string): Iterable<string>;
  stat(path: string): TreeStat;
  /** The target of a link. */
  link(path: string): string;
  /** A file's SHA-256, hex, and its length in bytes. */
  hash(path: string): { readonly sha256: string; readonly bytes: number };
}

/** Serves checks of the trees beneath `trees`, and of programs. */
export function makeTreeService(disk: TreeDisk, trees: string): PortHandler {
  const checks = makeTreeChecks(disk);
  const program = (path: string, sha256: string): string | null => {
    try {
      const found = disk.hash(path).sha256;
      return found === sha256 ? null : `it has the digest ${found.slice(0, 12)}…, reviewed was ` +
        `${sha256.slice(0, 12)}…`;
    } catch (error) {
      if (error instanceof Error) return `it cannot be read (${error.name})`;
      throw error;
    }
  };
  return Object.freeze<PortHandler>({
    ask(op: string, body: Json): Json {
      const asked = McpTreeAsk.safeParse({ op, body });
      if (!asked.success) {
        throw new Fault("invalidInput", `Cannot serve "${op.slice(0, 64)}": unknown`);
      }
      const { data } = asked;
      return data.op === "check"
        ? checks.check(`${trees}/${data.body.id}`, data.body.sha256) ?? null
        : program(data.body.path, data.body.sha256);
    },
    tell: () => undefined,
  });
}
