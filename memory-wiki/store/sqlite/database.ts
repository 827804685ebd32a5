/** Statements, transactions, typed rows and faults of an open database. @module */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Fault, type FaultCode } from "../../../contracts/base/mod.ts";

/** A parameter of a statement. */
export type Value = string | number | null | Uint8Array;

/** Rows per statement in {@link Database.insert}. */
const GROUP = 64;

/** An open database. Errors become faults by {@link withFaults}. */
export interface Database {
  get(sql: string, ...values: readonly Value[]): Row | undefined;
  all(sql: string, ...values: readonly Value[]): readonly Row[];
  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly Value[]): number;
  /** `head` ends in `VALUES`; all rows have equal length. */
  insert(head: string, rows: readonly (readonly Value[])[]): void;
  /** A transaction with the write lock; nested calls join the outer one. */
  transaction<T>(doing: string, f: () => T): T;
  /** Moves the WAL into the database file and truncates it, as far as readers permit. */
  checkpoint(): void;
  close(): void;
}

/** Caches prepared statements by text. */
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
          // SQLite itself rolls back after some failures (a full disk).
          if (db.isTransaction) prepare("ROLLBACK").run();
          throw error;
        }
      });
    },
    checkpoint() {
      try {
        db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch (_error) {
        // The WAL contains all commits; a lasting failure appears in the next one.
      }
    },
    close: () => db.close(),
  });
}

// Typed columns; a value of another type is damage.

/** A row as the engine returns it. */
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

// Errors of SQLite and the file system as faults.

const FULL = 13;
const IOERR = 10;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const NOTADB = 26;
const REFUSED: ReadonlySet<number> = new Set([3, 8, 14, 23]);

// `exec` in Deno 2.9 provides no code, only SQLite's standard messages.
const BY_WORDS: readonly (readonly [RegExp, number])[] = [
  [/database or disk is full/, FULL],
  [/disk I\/O error/, IOERR],
  [/database is locked|database table is locked/, BUSY],
  [/malformed|corrupt/, CORRUPT],
  [/file is not a database/, NOTADB],
  [/unable to open database file|readonly database/, 14],
];

/** The system's error code (`ENOSPC`); `""` for none. */
function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

function sqliteCode(error: Error): number {
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  return BY_WORDS.find(([words]) => words.test(error.message))?.[1] ?? 0;
}

/** The fault for an error; an unknown error is returned unchanged. `doing` completes "Cannot …". */
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

/** Runs `f` and converts errors of engine and files to faults. */
export function withFaults<T>(doing: string, f: () => T): T {
  try {
    return f();
  } catch (error) {
    throw storeFault(error, doing);
  }
}
