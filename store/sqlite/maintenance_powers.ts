/** Care of a database file that nobody has open: checking its structure, and replacing it. @module */
import { existsSync, renameSync } from "node:fs";
import { Fault } from "../../contracts/fault.ts";
import { openEngine } from "./_engine_powers.ts";
import { withFaults } from "./_faults.ts";

/** The database and what SQLite keeps beside it. */
const PARTS = ["", "-wal", "-shm"] as const;
const MOST_FINDINGS = 100;

/**
 * What SQLite's own structure check finds wrong, at most 100 lines; empty when nothing is. It sees
 * damage that a hash cannot: in indexes and free pages. Throws `storeCorrupt` when the file does
 * not open at all.
 */
export function checkSqliteFile(path: string): readonly string[] {
  const db = openEngine({ path, readOnly: true });
  try {
    return withFaults(`check store "${path}"`, "read", () => {
      const rows = db.prepare(`PRAGMA integrity_check(${MOST_FINDINGS})`).all();
      return rows.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
    });
  } finally {
    db.close();
  }
}

/**
 * Puts the database `fresh` in the place of `path` and keeps the old one as `keepAs`. Both must be
 * closed.
 * @throws Fault `alreadyExists` when something stands at `keepAs`.
 */
export function replaceSqliteFile(
  path: string,
  { fresh, keepAs }: { readonly fresh: string; readonly keepAs: string },
): void {
  if (PARTS.some((part) => existsSync(keepAs + part))) {
    throw new Fault("alreadyExists", `Cannot keep the old store as "${keepAs}": it exists`);
  }
  for (const part of PARTS) if (existsSync(path + part)) renameSync(path + part, keepAs + part);
  for (const part of PARTS) if (existsSync(fresh + part)) renameSync(fresh + part, path + part);
}
