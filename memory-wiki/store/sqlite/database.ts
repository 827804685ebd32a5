/** Statements and transactions over one open database. @module */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { withFaults } from "./faults.ts";
import type { Row } from "./rows.ts";

/** What a statement takes. */
export type Value = string | number | null | Uint8Array;

/** Rows of {@link Database.insert} in one statement. */
const GROUP = 64;

/** One open database. Faults as {@link withFaults} makes them. */
export interface Database {
  get(sql: string, ...values: readonly Value[]): Row | undefined;
  all(sql: string, ...values: readonly Value[]): readonly Row[];
  /** Gives the number of rows that it changed. */
  run(sql: string, ...values: readonly Value[]): number;
  /** `head` ends in `VALUES`; each row has as many values as the first. */
  insert(head: string, rows: readonly (readonly Value[])[]): void;
  /** All or nothing, after the write lock is had; within another it joins that one. */
  transaction<T>(doing: string, f: () => T): T;
  /** Moves the WAL into the main file and cuts it, as far as readers let it. */
  checkpoint(): void;
  close(): void;
}

/** Keeps prepared statements of `db` by their text. */
export function makeDatabase(db: DatabaseSync): Database {
  const statements = new Map<string, StatementSync>();
  function prepare(sql: string): StatementSync {
    const have = statements.get(sql);
    if (have !== undefined) return have;
    const made = db.prepare(sql);
    statements.set(sql, made);
    return made;
  }

  function insert(head: string, rows: readonly (readonly Value[])[]): void {
    const one = `(${rows[0]?.map(() => "?").join(",") ?? ""})`;
    for (let at = 0; at < rows.length;) {
      const size = rows.length - at >= GROUP ? GROUP : 1;
      const sql = `${head} ${new Array(size).fill(one).join(",")}`;
      prepare(sql).run(...rows.slice(at, at + size).flat());
      at += size;
    }
  }

  return Object.freeze<Database>({
    get: (sql, ...values) => withFaults("read the wiki", () => prepare(sql).get(...values)),
    all: (sql, ...values) => withFaults("read the wiki", () => prepare(sql).all(...values)),
    run: (sql, ...values) =>
      withFaults("write to the wiki", () => Number(prepare(sql).run(...values).changes)),
    insert: (head, rows) => withFaults("write to the wiki", () => insert(head, rows)),
    transaction(doing, f) {
      if (db.isTransaction) return f();
      return withFaults(doing, () => {
        prepare("BEGIN IMMEDIATE").run();
        try {
          const value = f();
          prepare("COMMIT").run();
          return value;
        } catch (error) {
          // SQLite itself rolls back some failures (a full disk), so it is asked first.
          if (db.isTransaction) prepare("ROLLBACK").run();
          throw error;
        }
      });
    },
    checkpoint() {
      try {
        db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch (_error) {
        // The WAL holds everything that was promised; a lasting fault shows itself in the next commit.
      }
    },
    close: () => db.close(),
  });
}
