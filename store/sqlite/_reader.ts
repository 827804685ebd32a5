/** The reading half. @module */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Digest } from "../../contracts/ids.ts";
import type {
  DocumentRow,
  EventRow,
  HeadQuery,
  Store,
  StoredEvent,
} from "../../contracts/store.ts";
import {
  documentQuery,
  eventQuery,
  headQueries,
  KERNEL,
  KERNEL_HEAD,
  LAST_SEQ,
  NEXT_KERNEL,
  OTHER_HEAD,
  type Value,
} from "./_event_query.ts";
import { withFaults } from "./_faults.ts";
import { bytesOf, DOCUMENT_COLUMNS, documentOf, eventOf, type SqlRow } from "./_rows.ts";

type Content = { readonly salt: Uint8Array; readonly bytes: Uint8Array };

/** The store's queries; synchronous. */
export interface Reader {
  events(query: Parameters<Store["events"]>[0]): readonly StoredEvent[];
  heads(query?: HeadQuery): readonly EventRow[];
  head(task: string): EventRow | undefined;
  blob(task: string, digest: Digest): Content | undefined;
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

  /**
   * A `seq` before event `n` of the kernel's chain, which has no index: halving the whole finds it
   * in some twenty steps, because that chain has an event in every commit.
   */
  function beforeKernel(n: number): number {
    let low = 0;
    let high = Number(rows(LAST_SEQ, [])[0]?.["seq"] ?? 0);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const next = rows(NEXT_KERNEL, [middle])[0]?.["n"];
      if (typeof next === "number" && next < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return Object.freeze(
    {
      events(query): readonly StoredEvent[] {
        const { sql, values } = eventQuery(
          query.task === KERNEL && (query.fromN ?? 0) > 0
            ? { ...query, afterSeq: Math.max(query.afterSeq ?? 0, beforeKernel(query.fromN ?? 0)) }
            : query,
        );
        return rows(sql, values).map(eventOf);
      },
      heads(query = {}): readonly EventRow[] {
        const found = headQueries(query).flatMap(({ sql, values }) => rows(sql, values));
        return found.slice(0, query.limit).map(eventOf);
      },
      head(task): EventRow | undefined {
        const row = (task === KERNEL ? rows(KERNEL_HEAD, []) : rows(OTHER_HEAD, [task]))[0];
        return row === undefined ? undefined : eventOf(row);
      },
      blob(task, digest): Content | undefined {
        const what = "content";
        const row = rows(
          "SELECT salt, bytes FROM blobs WHERE task = (SELECT id FROM names WHERE name = ?) AND digest = ?",
          [task, Uint8Array.fromHex(digest)],
        )[0];
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
      documents(query): readonly DocumentRow[] {
        const { sql, values } = documentQuery(query);
        return rows(sql, values).map(documentOf);
      },
      documentKinds: () =>
        rows("SELECT DISTINCT kind FROM documents ORDER BY kind", []).map((r) => String(r["kind"])),
    } satisfies Reader,
  );
}
