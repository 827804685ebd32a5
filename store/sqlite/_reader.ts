/** The reading half. @module */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Digest } from "../../contracts/ids.ts";
import type { DocumentRow, EventRow, Store, StoredEvent } from "../../contracts/store.ts";
import { withFaults } from "./_faults.ts";
import {
  bytesOf,
  DOCUMENT_COLUMNS,
  documentOf,
  EVENT_COLUMNS,
  eventOf,
  type SqlRow,
} from "./_rows.ts";

/** Rows that a query returns when it names no limit. */
const DEFAULT_LIMIT = 1_000;

// A skip-scan over the chain index: the cost is in the number of tasks, not of events.
const HEADS = `
WITH RECURSIVE chains(task) AS (
  SELECT min(task) FROM events
  UNION ALL
  SELECT (SELECT min(task) FROM events WHERE task > chains.task) FROM chains
    WHERE chains.task IS NOT NULL)
SELECT ${EVENT_COLUMNS} FROM chains JOIN events e ON e.task = chains.task
  AND e.n = (SELECT max(n) FROM events WHERE task = chains.task)`;

type Value = string | number | Uint8Array;

type Content = { readonly salt: Uint8Array; readonly bytes: Uint8Array };

/** The store's queries; synchronous. */
export interface Reader {
  events(query: Parameters<Store["events"]>[0]): readonly StoredEvent[];
  heads(): readonly EventRow[];
  blob(digest: Digest): Content | undefined;
  document(kind: string, id: string): DocumentRow | undefined;
  documents(query: Parameters<Store["documents"]>[0]): readonly DocumentRow[];
  documentKinds(): readonly string[];
}

/** The only holder of the read statements of a database. */
export function makeReader(db: DatabaseSync): Reader {
  const prepared = new Map<string, StatementSync>();

  function rows(sql: string, values: readonly Value[]): readonly SqlRow[] {
    return withFaults("read the log", "read", () => {
      let statement = prepared.get(sql);
      if (statement === undefined) {
        statement = db.prepare(sql);
        prepared.set(sql, statement);
      }
      return statement.all(...values);
    });
  }

  return Object.freeze(
    {
      events({ task, afterSeq, fromN, kinds, limit = DEFAULT_LIMIT }): readonly StoredEvent[] {
        const where: string[] = [];
        const values: Value[] = [];
        const add = (clause: string, ...more: readonly Value[]): void => {
          where.push(clause);
          values.push(...more);
        };
        if (task !== undefined) add("e.task = ?", task);
        if (fromN !== undefined) add("e.n >= ?", fromN);
        if (afterSeq !== undefined) add("e.seq > ?", afterSeq);
        if (kinds !== undefined) add(`e.kind IN (${kinds.map(() => "?").join(",")})`, ...kinds);
        const filter = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
        // Within one chain `n` rises with `seq`, and has the index.
        const order = task === undefined ? "e.seq" : "e.n";
        const sql = `SELECT ${EVENT_COLUMNS} FROM events e ${filter} ORDER BY ${order} LIMIT ?`;
        return rows(sql, [...values, limit]).map(eventOf);
      },
      heads: () => rows(HEADS, []).map(eventOf),
      blob(digest): Content | undefined {
        const what = "content";
        const row = rows("SELECT salt, bytes FROM blobs WHERE digest = ?", [
          Uint8Array.fromHex(digest),
        ])[0];
        if (row === undefined) return undefined;
        return Object.freeze({
          salt: bytesOf(row, "salt", what),
          bytes: bytesOf(row, "bytes", what),
        });
      },
      document(kind, id): DocumentRow | undefined {
        const row = rows(`SELECT ${DOCUMENT_COLUMNS} FROM documents WHERE kind = ? AND id = ?`, [
          kind,
          id,
        ])[0];
        return row === undefined ? undefined : documentOf(row);
      },
      documents({ kind, task, limit = DEFAULT_LIMIT }): readonly DocumentRow[] {
        const [filter, values]: [string, Value[]] = task === undefined
          ? ["kind = ?", [kind]]
          : ["kind = ? AND task = ?", [kind, task]];
        const sql =
          `SELECT ${DOCUMENT_COLUMNS} FROM documents WHERE ${filter} ORDER BY rowid LIMIT ?`;
        return rows(sql, [...values, limit]).map(documentOf);
      },
      documentKinds: () =>
        rows("SELECT DISTINCT kind FROM documents ORDER BY kind", []).map((r) => String(r["kind"])),
    } satisfies Reader,
  );
}
