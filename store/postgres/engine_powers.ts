/** The only file with a connection to a PostgreSQL server: a URL is authority over a database. @module */
import postgres from "postgres";
import { parseAddress } from "../../contracts/wire/store_address.ts";
import type { Value } from "./_queries.ts";
import type { Row } from "../_rows.ts";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";

/** Connections for reads, beside the one for writes. */
const READERS = 3;
/** Milliseconds to wait for the return of a lost server, and between two attempts. */
const RETRY_FOR_MS = 20_000, RETRY_EVERY_MS = 250;
/** Seconds until an attempt to connect is abandoned. */
const CONNECT_S = 10;

/** The store's access to a database. */
export interface Engine {
  /** A statement of the writer, in order. An interrupted one is sent again, so it must be idempotent. */
  write(sql: string, values: readonly Value[]): Promise<readonly Row[]>;
  /** A statement of a reader. */
  read(sql: string, values: readonly Value[]): Promise<readonly Row[]>;
  /** Statements without values, in one transaction. */
  script(sql: string): Promise<void>;
  /** Subscribes to a channel's notices. */
  listen(channel: string, hear: () => void): Promise<void>;
  /** Milliseconds of a monotonic clock. */
  steady(): number;
  after(ms: number, work: () => void): () => void;
  /** A new password. */
  secret(): string;
  close(): Promise<void>;
}

/** PostgreSQL's text form of an array. */
function literalOf(list: readonly (string | number)[]): string {
  const items = list.map((each) =>
    typeof each === "number" ? String(each) : `"${each.replaceAll(/["\\]/g, "\\$&")}"`
  );
  return `{${items.join(",")}}`;
}

/** Opens a database. It connects at the first statement. */
export function openEngine(url: string): Engine {
  const { host, port, user, password, database } = parseAddress(url);
  const connect = (max: number): postgres.Sql =>
    postgres({
      ...{ host, port, user, password, database, max },
      ...{ idle_timeout: 0, connect_timeout: CONNECT_S, fetch_types: false },
      max_lifetime: null,
      // Notices are meant for a person at a prompt.
      onnotice: () => undefined,
      connection: { application_name: "remit", search_path: "pg_catalog" },
    });
  const [writer, reader] = [connect(1), connect(READERS)];
  let closed = false;

  const run = async (
    sql: postgres.Sql,
    text: string,
    values: readonly Value[],
  ): Promise<readonly Row[]> => {
    const bound = values.map((each) => typeof each === "object" ? literalOf(each) : each);
    const begun = performance.now();
    for (;;) {
      try {
        return await sql.unsafe<Record<string, unknown>[]>(text, bound, { prepare: true });
      } catch (error) {
        if (closed || !isLost(error) || performance.now() - begun > RETRY_FOR_MS) {
          throw faultOf(error, "use the database");
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY_MS));
      }
    }
  };

  return Object.freeze<Engine>({
    write: (text, values) => run(writer, text, values),
    read: (text, values) => run(reader, text, values),
    async script(text): Promise<void> {
      try {
        await writer.begin(async (sql) => void await sql.unsafe(text));
      } catch (error) {
        throw faultOf(error, "bring the database to this version's schema");
      }
    },
    async listen(channel, hear): Promise<void> {
      await reader.listen(channel, hear);
    },
    secret: () => crypto.getRandomValues(new Uint8Array(24)).toHex(),
    steady: () => performance.now(),
    after(ms, work): () => void {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all([writer.end({ timeout: 2 }), reader.end({ timeout: 2 })]);
    },
  });
}

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
function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return LOST.has(code) || code.startsWith("57P") || code.startsWith("08");
}

/** The fault for an error of the engine, or the error itself where it is a bug here. `doing` completes "Cannot …". */
function faultOf(error: unknown, doing: string): unknown {
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
