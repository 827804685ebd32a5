/** What SQLite's and the file system's errors mean to a caller of the wiki's store. @module */
import { Fault, type FaultCode } from "../../../contracts/mod.ts";

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
