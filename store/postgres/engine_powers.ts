/** The only file with a connection to a PostgreSQL server: a URL is authority over a database. @module */
import postgres from "postgres";
import { parseAddress } from "../../contracts/wire/store_address.ts";
import { faultOf, isLost } from "./_faults.ts";
import type { Value } from "./_queries.ts";
import type { Row } from "../_rows.ts";

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
