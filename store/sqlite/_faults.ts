/** Translates SQLite's errors into faults. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";

const FULL = 13;
const IOERR = 10;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const NOTADB = 26;
const PERM = 3;
const READONLY = 8;
const CANTOPEN = 14;
const AUTH = 23;
const CONSTRAINT = 19;
const UNIQUE = 2067;
const PRIMARY_KEY = 1555;
/** Node's refusal to read an integer above 2^53: Remit writes none. */
const OUT_OF_RANGE = "ERR_OUT_OF_RANGE";

// In Deno 2.9 `exec` gives no code, only SQLite's standard messages.
const BY_WORDS: readonly (readonly [RegExp, number])[] = [
  [/database or disk is full/, FULL],
  [/disk I\/O error/, IOERR],
  [/database is locked|database table is locked/, BUSY],
  [/malformed|corrupt/, CORRUPT],
  [/file is not a database/, NOTADB],
  [/unable to open database file/, CANTOPEN],
  [/readonly database/, READONLY],
];

/** Code of all the engine's errors in `node:sqlite`; its misuse errors have other codes. */
const ENGINE = "ERR_SQLITE_ERROR";

function codeOf(error: Error): number {
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode;
  return BY_WORDS.find(([words]) => words.test(error.message))?.[1] ?? 0;
}

/**
 * The fault for an error of SQLite, or the error itself where it is a bug here. `doing` completes
 * "Cannot …", and distinguishes a write from a read: a device error means "no room" to a write and
 * "damaged" to a read.
 */
function storeFault(error: unknown, doing: string, mode: "read" | "write"): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const fault = (kind: FaultCode, why: string): Fault =>
    new Fault(kind, `Cannot ${doing}: ${why}`, { cause: error });
  if (code === UNIQUE || code === PRIMARY_KEY) {
    return fault("conflict", `another writer was first (${error.message})`);
  }
  switch (code & 0xff) {
    case FULL:
      return fault("storeFull", "the disk or quota is full; make room and try again");
    case IOERR:
      return mode === "write"
        ? fault("storeFull", `the disk does not take it (${error.message})`)
        : fault("storeCorrupt", `the disk does not give it back (${error.message})`);
    case BUSY:
    case LOCKED:
      return fault("conflict", "another process holds the database");
    case CORRUPT:
    case NOTADB:
      return fault("storeCorrupt", `the database is damaged (${error.message})`);
    case PERM:
    case READONLY:
    case CANTOPEN:
    case AUTH:
      return fault("refused", `the file may not be opened so (${error.message})`);
    case CONSTRAINT:
      return error;
  }
  const nodeCode = "code" in error ? error.code : undefined;
  if (nodeCode === "ENOSPC" || nodeCode === "EDQUOT") return fault("storeFull", error.message);
  if (nodeCode === OUT_OF_RANGE) {
    return fault("storeCorrupt", `a stored number is out of range (${error.message})`);
  }
  // The engine's other errors come from a schema that is no longer Remit's.
  if (nodeCode === ENGINE) return fault("storeCorrupt", `the schema is damaged (${error.message})`);
  return error;
}

/** Runs `f` and translates SQLite's errors into faults. */
export function withFaults<T>(doing: string, mode: "read" | "write", f: () => T): T {
  try {
    return f();
  } catch (error) {
    throw storeFault(error, doing, mode);
  }
}
