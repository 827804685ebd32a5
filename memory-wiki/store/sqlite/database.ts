/** Statements, transactions, typed rows and faults of one open database. @module */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Fault, type FaultCode } from "../../../contracts/base/mod.ts";

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

// Reading columns of rows, each with its type; a row of another shape is damage.

/** One row as the engine gives it. */
export type Row = Readonly<Record<string, unknown>>;

function damaged(column: string): Fault {
  return new Fault(
    "storeCorrupt",
    `Cannot read the wiki's database: column "${column}" is damaged`,
  );
}

/** A number. @throws Fault `storeCorrupt` */
export function int(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw damaged(column);
  return value;
}

/** A text. @throws Fault `storeCorrupt` */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw damaged(column);
  return value;
}

/** Bytes. @throws Fault `storeCorrupt` */
export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw damaged(column);
  return value;
}

/** A number or undefined for NULL. @throws Fault `storeCorrupt` */
export function maybeInt(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : int(row, column);
}

/** A text or undefined for NULL. @throws Fault `storeCorrupt` */
export function maybeText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

/** A JSON text, parsed. @throws Fault `storeCorrupt` */
export function json(row: Row, column: string): unknown {
  try {
    return JSON.parse(text(row, column));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw damaged(column);
  }
}

// What SQLite's and the file system's errors mean to a caller of the wiki's store.

const FULL = 13;
const IOERR = 10;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const NOTADB = 26;
const REFUSED: ReadonlySet<number> = new Set([3, 8, 14, 23]);

// `exec` gives no code in Deno 2.9, only SQLite's standard words.
const BY_WORDS: readonly (readonly [RegExp, number])[] = [
  [/database or disk is full/, FULL],
  [/disk I\/O error/, IOERR],
  [/database is locked|database table is locked/, BUSY],
  [/malformed|corrupt/, CORRUPT],
  [/file is not a database/, NOTADB],
  [/unable to open database file|readonly database/, 14],
];

/** The system's short name of an error (`ENOSPC`), `""` where it has none. */
function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

function sqliteCode(error: Error): number {
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  return BY_WORDS.find(([words]) => words.test(error.message))?.[1] ?? 0;
}

/** The fault that an error stands for, or the error itself where it is a bug of ours. `doing` completes "Cannot …". */
export function storeFault(error: unknown, doing: string): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const fault = (kind: FaultCode, why: string): Fault =>
    new Fault(kind, `Cannot ${doing}: ${why}`, { cause: error });
  switch (systemCode(error)) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return fault("storeFull", "the disk or quota is full; make room and try again");
    case "ELOOP":
      return fault("refused", "a symbolic link lies where a file of the wiki belongs");
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return fault("refused", "the file may not be opened so");
    case "ENAMETOOLONG":
      return fault("invalidInput", "the name is too long");
  }
  switch (sqliteCode(error)) {
    case FULL:
      return fault("storeFull", "the disk or quota is full; make room and try again");
    case IOERR:
      return fault("storeFull", `the disk does not take it (${error.message})`);
    case BUSY:
    case LOCKED:
      return fault("conflict", "another process holds the wiki's database; try again");
    case CORRUPT:
    case NOTADB:
      return fault("storeCorrupt", `the database is damaged (${error.message})`);
  }
  if (REFUSED.has(sqliteCode(error))) return fault("refused", error.message);
  return error;
}

/** Runs `f`; errors of the engine and of files leave it as faults. */
export function withFaults<T>(doing: string, f: () => T): T {
  try {
    return f();
  } catch (error) {
    throw storeFault(error, doing);
  }
}
