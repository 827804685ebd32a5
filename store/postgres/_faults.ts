/** Translates PostgreSQL's errors into faults. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";

/** SQLSTATEs that the schema's functions raise. */
const REFUSALS = Object.freeze({
  /** Another process has registered as this kernel. */
  replaced: "RM001",
  /** Another kernel owns the task now. */
  fenced: "RM002",
  /** A chain position or a document's version exists already. */
  conflict: "RM003",
  /** The role is another kernel's. */
  stranger: "RM004",
  /** The lease has expired: no effect may start. */
  lapsed: "RM005",
  /** The named thing does not exist. */
  absent: "RM006",
});

/** Faults by SQLSTATE code or class. A code is looked up before its class. */
const BY_STATE: Readonly<Record<string, readonly [FaultCode, string]>> = {
  [REFUSALS.replaced]: ["gone", "another process is this kernel now"],
  [REFUSALS.fenced]: ["leaseRevoked", "the task is another kernel's now"],
  [REFUSALS.conflict]: ["conflict", "another writer was first"],
  [REFUSALS.stranger]: ["refused", "the database's role does not speak for this kernel"],
  [REFUSALS.lapsed]: ["leaseExpired", "this kernel's lease of its tasks has run out"],
  [REFUSALS.absent]: ["notFound", "there is none"],
  // A row without a scope: see `remit.append`.
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

/** Errors of the connection, after which a statement's outcome is unknown. */
const LOST = new Set([
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "CONNECT_TIMEOUT"],
  ...["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT", "ENOTCONN", "EHOSTUNREACH"],
]);

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

/** True where the network, or a database that stops or starts, interrupted a statement. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return LOST.has(code) || code.startsWith("57P") || code.startsWith("08");
}

/** The fault for an error of the engine, or the error itself where it is a bug here. `doing` completes "Cannot …". */
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
  // The engine's other errors come from a schema that is not Remit's.
  return /^[0-9A-Z]{5}$/.test(code)
    ? new Fault("storeCorrupt", `Cannot ${doing}: the schema is not ours (${error.message})`, {
      cause: error,
    })
    : error;
}
