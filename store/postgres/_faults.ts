/** What PostgreSQL's refusals mean to a caller of the store. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";

/** SQLSTATEs of refusals that our functions raise. */
const REFUSALS = Object.freeze({
  /** Another process has registered as this kernel since. */
  replaced: "RM001",
  /** The task is another kernel's now. */
  fenced: "RM002",
  /** A chain position or a document's version was taken. */
  conflict: "RM003",
  /** The role is not this kernel's. */
  stranger: "RM004",
  /** The lease has run out: nothing with an effect may start. */
  lapsed: "RM005",
  /** What was named is not there. */
  absent: "RM006",
});

/** SQLSTATE classes and codes, and what they mean. The longest that fits decides. */
const BY_STATE: Readonly<Record<string, readonly [FaultCode, string]>> = {
  [REFUSALS.replaced]: ["gone", "another process is this kernel now"],
  [REFUSALS.fenced]: ["leaseRevoked", "the task is another kernel's now"],
  [REFUSALS.conflict]: ["conflict", "another writer was first"],
  [REFUSALS.stranger]: ["refused", "the database's role does not speak for this kernel"],
  [REFUSALS.lapsed]: ["leaseExpired", "this kernel's lease of its tasks has run out"],
  [REFUSALS.absent]: ["notFound", "there is none"],
  // A row without a scope: see the function that appends.
  "23502": ["leaseRevoked", "it writes to a task that it does not hold"],
  "23505": ["conflict", "another writer was first"],
  "28": ["refused", "the database refuses the role or its password"],
  "3D": ["notFound", "there is no such database"],
  "42501": ["refused", "the database's role may not do that"],
  "53100": ["storeFull", "the database's disk is full; make room and try again"],
  "53": ["unavailable", "the database has no room for more connections or memory"],
  "57": ["unavailable", "the database is being stopped or started"],
  "58": ["storeFull", "the database's disk does not take it"],
  "XX": ["storeCorrupt", "the database is damaged"],
  "08": ["unavailable", "the database does not answer"],
};

/** What breaks off under a statement: nobody knows whether it was done. */
const LOST = new Set([
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "CONNECT_TIMEOUT"],
  ...["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT", "ENOTCONN", "EHOSTUNREACH"],
]);

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

/** Whether a statement was cut off: by the network, or by a database that stops or has just started. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return LOST.has(code) || code.startsWith("57P") || code.startsWith("08");
}

/** The fault that an error of the engine stands for, or the error itself where it is a bug of ours. `doing` completes "Cannot …". */
export function faultOf(error: unknown, doing: string): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const known = BY_STATE[code] ?? BY_STATE[code.slice(0, 2)];
  if (known !== undefined) {
    const [fault, why] = known;
    return new Fault(fault, `Cannot ${doing}: ${why} (${error.message})`, { cause: error });
  }
  if (LOST.has(code)) {
    return new Fault("unavailable", `Cannot ${doing}: the database does not answer (${code})`, {
      cause: error,
    });
  }
  if ("syscall" in error || code === "ERR_ACCESS_DENIED" || error.name === "NotCapable") {
    return new Fault(
      "refused",
      `Cannot ${doing}: it cannot be reached from here (${error.message})`,
      {
        cause: error,
      },
    );
  }
  // What is left of the engine's errors is a schema that is not ours.
  return /^[0-9A-Z]{5}$/.test(code)
    ? new Fault("storeCorrupt", `Cannot ${doing}: the schema is not ours (${error.message})`, {
      cause: error,
    })
    : error;
}

/** The fault of a row that holds what no writer of ours puts there. */
export function damagedRow(what: string, cause?: unknown): Fault {
  return new Fault("storeCorrupt", `Cannot read ${what}: the row is damaged`, { cause });
}
