/** The store's contract on SQLite. @module */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Digest } from "../../contracts/authority/ids.ts";
import type {
  Batch,
  DocumentQuery,
  DocumentRow,
  EventRow,
  HeadQuery,
  Store,
  StoredEvent,
} from "../../contracts/task/store.ts";
import { type EngineOptions, openEngine } from "./_engine_powers.ts";
import { withFaults } from "./_faults.ts";
import {
  damagedRow,
  DEFAULT_LIMIT,
  documentOf as documentWith,
  KERNEL,
  nameOf,
  type Query as QueryOf,
  type Row,
} from "../_rows.ts";
import { makeWriter, type Writer } from "./_writer.ts";
import { tryUnpackBody } from "./_pack.ts";

/** A store on one SQLite file. */
export interface SqliteStore extends Store {
  /** The existing kinds of document, for a copy of all. */
  documentKinds(): Promise<readonly string[]>;
}

/**
 * Opens the store at `path` (its folder has mode 0700, its files 0600), in WAL mode with every
 * commit synced. With `readOnly` nothing is created, changed or checkpointed.
 * @throws Fault `storeFull`, `storeCorrupt`, `conflict`, `unavailable` for a newer schema, and
 * `refused` for a folder that other users can enter.
 */
export function openSqliteStore(options: EngineOptions): SqliteStore {
  const db = openEngine(options);
  const reader = makeReader(db);
  // A reader may have to read a damaged file, so it prepares no write statements.
  let writer = options.readOnly === true ? undefined : openWriter(db, options.path);
  const write = (): Writer => writer ??= openWriter(db, options.path);
  // The methods are async, so that SQLite's synchronous throw becomes the contract's rejection.
  return Object.freeze(
    {
      commit: async (batch: Batch) => await write().commit(batch),
      events: async (query) => await reader.events(query),
      heads: async (query) => await reader.heads(query),
      head: async (task: string) => await reader.head(task),
      blob: async (task: string, digest: Digest) => await reader.blob(task, digest),
      eraseBlobs: async (task: string) => await write().eraseBlobs(task),
      document: async (kind: string, id: string) => await reader.document(kind, id),
      peek: (kind: string, id: string) => reader.document(kind, id),
      documents: async (query) => await reader.documents(query),
      documentKinds: async () => await reader.documentKinds(),
      close: async () => await db.close(),
    } satisfies SqliteStore,
  );
}

/** Prepares the write statements, which a damaged schema refuses. */
function openWriter(db: DatabaseSync, path: string): Writer {
  try {
    return withFaults(`open store "${path}"`, "write", () => makeWriter(db));
  } catch (error) {
    db.close();
    throw error;
  }
}

type Content = { readonly salt: Uint8Array; readonly bytes: Uint8Array };

/** The store's queries, synchronous. */
interface Reader {
  events(query: Parameters<Store["events"]>[0]): readonly StoredEvent[];
  heads(query?: HeadQuery): readonly EventRow[];
  head(task: string): EventRow | undefined;
  blob(task: string, digest: Digest): Content | undefined;
  document(kind: string, id: string): DocumentRow | undefined;
  documents(query: Parameters<Store["documents"]>[0]): readonly DocumentRow[];
  documentKinds(): readonly string[];
}

/** The only owner of a database's read statements. */
function makeReader(db: DatabaseSync): Reader {
  const prepared = new Map<string, StatementSync>();

  function rows(sql: string, values: readonly Value[]): readonly Row[] {
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
   * A `seq` before event `n` of the kernel's chain, which has no index: a binary search takes about
   * twenty steps, because every commit has an event of that chain.
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

/** A bound value of a statement. */
type Value = string | number | Uint8Array;

type Query = QueryOf<Value>;

// With this condition SQLite uses the index of chains, which does not contain the kernel's chain.
const NOT_KERNEL = "e.task <> 1";

const LAST_SEQ = "SELECT max(seq) AS seq FROM events";
/** The place in its chain of the first kernel event after a `seq`. */
const NEXT_KERNEL =
  "SELECT e.n FROM events e WHERE e.task = 1 AND e.seq > ? ORDER BY e.seq LIMIT 1";

// Outer joins, so that a lost name does not hide a row.
const ROWS = `SELECT e.seq, t.name AS task, e.n, k.name AS kind, e.at, e.hash, e.body
  FROM events e LEFT JOIN names t ON t.id = e.task LEFT JOIN names k ON k.id = e.kind`;

/** The last event of the kernel's chain. */
export const KERNEL_HEAD = `${ROWS} WHERE e.task = 1 ORDER BY e.seq DESC LIMIT 1`;

/** The last event of a chain that is not the kernel's. */
const OTHER_HEAD =
  `${ROWS} WHERE ${NOT_KERNEL} AND e.task = (SELECT id FROM names WHERE name = ?) ORDER BY e.n DESC LIMIT 1`;

/** The last event of every other chain. A skip-scan: its cost is in the number of tasks. */
function otherHeads({ after = KERNEL, untilSeq, limit = -1 }: HeadQuery): Query {
  const until = untilSeq === undefined ? [] : [untilSeq];
  const place = "(SELECT id FROM names WHERE name = ?)";
  return {
    sql: `
WITH RECURSIVE chains(task) AS (
  SELECT min(e.task) FROM events e WHERE ${NOT_KERNEL}${
      after === KERNEL ? "" : ` AND e.task > ${place}`
    }
  UNION ALL
  SELECT (SELECT min(e.task) FROM events e WHERE ${NOT_KERNEL} AND e.task > chains.task)
    FROM chains WHERE chains.task IS NOT NULL)
${ROWS} WHERE e.seq IN (
  SELECT last FROM (SELECT (SELECT e.seq FROM events e WHERE ${NOT_KERNEL} AND e.task = chains.task${
      until.length === 0 ? "" : " AND e.seq <= ?"
    } ORDER BY e.n DESC LIMIT 1) AS last FROM chains WHERE chains.task IS NOT NULL)
  WHERE last IS NOT NULL LIMIT ?)
ORDER BY e.task`,
    values: [...(after === KERNEL ? [] : [after]), ...until, limit],
  };
}

/** The queries of `Store.heads`; their answers are concatenated. */
export function headQueries(query: HeadQuery): readonly Query[] {
  const { after, untilSeq, limit } = query;
  if (after !== undefined) return [otherHeads(query)];
  const kernel = untilSeq === undefined
    ? { sql: KERNEL_HEAD, values: [] }
    : eventQuery({ task: KERNEL, untilSeq, newest: true, limit: 1 });
  return limit === 1 ? [kernel] : [kernel, otherHeads(query)];
}

function namesIn(count: number): string {
  return `(SELECT id FROM names WHERE name IN (${Array(count).fill("?").join(",")}))`;
}

/** A query of `Store.events`. */
export function eventQuery(
  { task, afterSeq, untilSeq, newest, fromN, kinds, limit = DEFAULT_LIMIT }: Parameters<
    Store["events"]
  >[0],
): Query {
  const where: string[] = [];
  const values: Value[] = [];
  const add = (clause: string, ...more: readonly Value[]): void => {
    where.push(clause);
    values.push(...more);
  };
  if (task !== undefined) add(`e.task = ${namesIn(1)}`, task);
  // The kernel's chain has no index, so it is read in order of append.
  const byChain = task !== undefined && task !== KERNEL;
  if (byChain) add(NOT_KERNEL);
  if (fromN !== undefined) add("e.n >= ?", fromN);
  if (afterSeq !== undefined) add("e.seq > ?", afterSeq);
  if (untilSeq !== undefined) add("e.seq <= ?", untilSeq);
  if (kinds !== undefined) add(`e.kind IN ${namesIn(kinds.length)}`, ...kinds);
  const filter = where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`;
  // Within one chain `n` rises with `seq`.
  const order = `${byChain ? "e.n" : "e.seq"}${newest === true ? " DESC" : ""}`;
  const sql = `${ROWS} ${filter} ORDER BY ${order} LIMIT ?`;
  return { sql, values: [...values, limit] };
}

/** A query of `Store.documents`. */
function documentQuery(
  { kind, task, states, prefix, after, before, newest, limit = DEFAULT_LIMIT }: DocumentQuery,
): Query {
  const where = ["kind = ?"];
  const values: Value[] = [kind];
  const add = (clause: string, ...more: readonly Value[]): void => {
    where.push(clause);
    values.push(...more);
  };
  const place = "(SELECT rowid FROM documents WHERE kind = ? AND id = ?)";
  if (task !== undefined) add("task = ?", task);
  if (prefix !== undefined) add("id >= ? AND id < ?", prefix, `${prefix}\u{10ffff}`);
  if (after !== undefined) add(`rowid > ${place}`, kind, after);
  if (before !== undefined) add(`rowid < ${place}`, kind, before);
  const end = `ORDER BY rowid${newest === true ? " DESC" : ""} LIMIT ?`;
  const select = `SELECT ${DOCUMENT_COLUMNS} FROM documents WHERE`;
  const filter = where.join(" AND ");
  if (states === undefined) {
    return { sql: `${select} ${filter} ${end}`, values: [...values, limit] };
  }
  // The index is in order within each state, so each part reads only `limit` rows.
  const one =
    `SELECT rowid FROM (SELECT rowid FROM documents WHERE state = ? AND ${filter} ${end})`;
  const each = states.length === 0 ? "NULL" : states.map(() => one).join(" UNION ALL ");
  return {
    sql: `${select} rowid IN (${each}) ${end}`,
    values: [...states.flatMap((state) => [state, ...values, limit]), limit],
  };
}

// Fatal, and with the byte order mark kept, so that two different byte strings never read as one text.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function integer(row: Row, key: string, what: string): number {
  const value = row[key];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw damagedRow(what);
  return value;
}

function text(row: Row, key: string, what: string): string {
  const value = row[key];
  if (!(value instanceof Uint8Array)) throw damagedRow(what);
  try {
    return UTF8.decode(value);
  } catch (error) {
    throw damagedRow(what, error);
  }
}

function bytesOf(row: Row, key: string, what: string): Uint8Array {
  const value = row[key];
  if (!(value instanceof Uint8Array)) throw damagedRow(what);
  return value;
}

/** An event. Throws `storeCorrupt` for a row that no writer of Remit made. */
function eventOf(row: Row): StoredEvent {
  const seq = integer(row, "seq", "an event");
  const what = `event ${seq}`;
  const hash = bytesOf(row, "hash", what);
  if (hash.length !== 32) throw damagedRow(what);
  return Object.freeze({
    seq,
    task: nameOf(row, "task", what),
    n: integer(row, "n", what),
    kind: nameOf(row, "kind", what),
    at: integer(row, "at", what),
    hash: Digest.parse(hash.toHex()),
    body: body(row, what),
  });
}

function body(row: Row, what: string): string {
  const text = tryUnpackBody(bytesOf(row, "body", what));
  if (text === undefined) throw damagedRow(what);
  return text;
}

/** Columns of a document, for {@link documentOf}. */
const DOCUMENT_COLUMNS = "kind, id, task, version, CAST(body AS BLOB) AS body";

/** A document. Throws `storeCorrupt` for a row that no writer of Remit made. */
function documentOf(row: Row): DocumentRow {
  const what = "a document";
  return documentWith(row, text(row, "body", what), integer(row, "version", what));
}
