/** A copy of any SQLite database as it stands at one moment, while others write it. @module */
import { backup, DatabaseSync } from "node:sqlite";
import { Fault } from "../../../contracts/mod.ts";

const BUSY_MS = 5_000;
/** All pages in one step: a copy in several begins anew whenever somebody writes between them. */
const ALL = 1_000_000_000;

/**
 * Copies a database page by page, with all that its log of changes holds. Its writers are not held up. (`VACUUM INTO`
 * would number rows anew, which indexes of text refer to.)
 *
 * @throws Fault `storeCorrupt` where the file cannot be read as a database
 */
export async function copySqlite(path: string, into: string): Promise<void> {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
    await backup(db, into, { rate: ALL });
  } catch (cause) {
    throw new Fault(
      "storeCorrupt",
      `Cannot copy the database "${path}": ${cause instanceof Error ? cause.message : "?"}`,
      { cause },
    );
  } finally {
    db?.close();
  }
}
