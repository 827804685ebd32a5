/**
 * Holds trees against their digests: the first time all of it is read, afterwards a table of what the file system
 * says of each file is enough, for as long as this process lives.
 * @module
 */
import { Fault } from "../../../contracts/mod.ts";
import { digestEntries } from "./digest.ts";
import type { TreeDisk, TreeStat } from "./disk.ts";
import { type TreeEntry, walkTree } from "./walk.ts";

/** Checks trees. */
export interface TreeChecks {
  /** Undefined when the tree is as it was pinned, else what differs, in words. Never throws a {@link Fault}. */
  check(root: string, sha256: string): string | undefined;
}

interface Known {
  readonly sha256: string;
  readonly table: string;
}

/** Makes checks that remember what they have read. */
export function makeTreeChecks(disk: TreeDisk): TreeChecks {
  const known = new Map<string, Known>();

  const differs = (root: string, sha256: string): string | undefined => {
    // INVARIANT: the table is of before the bytes were read: what changed meanwhile differs next time.
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
        // Absent, unreadable, changed under the walk: it is not what was pinned.
        if (error instanceof Error) return `it cannot be read (${error.name})`;
        throw error;
      }
    },
  });
}

/** What the file system says of each file: it changes whenever one is written, replaced, added or removed. */
function statTable(entries: readonly TreeEntry[]): string {
  return entries.map(({ path, stat }) => `${line(stat)} ${path}`).join("\n");
}

function line({ mode, bytes, mtime, ctime, ino }: TreeStat): string {
  return `${mode} ${bytes} ${mtime} ${ctime} ${ino}`;
}
