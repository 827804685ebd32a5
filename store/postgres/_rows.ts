/** Checks every field of rows from the database and from the port. @module */
import { Digest } from "../../contracts/authority/ids.ts";
import { type Json, toJson } from "../../contracts/base/json.ts";
import type { DocumentRow, EventRow, StoredEvent } from "../../contracts/task/store.ts";
import type { StorePage } from "../../contracts/wire/wire_store.ts";
import { damagedRow, documentOf as documentWith, nameOf, type Row } from "../_rows.ts";

/** Characters of bodies in one answer; the client requests the rest. */
const MAX_PAGE = 8_000_000;

/** A column's whole number; PostgreSQL sends long ones as text. */
export function integer(row: Row, key: string, what: string): number {
  const value = Number(row[key]);
  if (!Number.isSafeInteger(value)) throw damagedRow(what);
  return value;
}

export function textOf(row: Row, key: string, what: string): string {
  const value = row[key];
  if (typeof value !== "string") throw damagedRow(what);
  return value;
}

/** An event. Throws `storeCorrupt` for a row that no writer of Remit made. */
export function eventOf(row: Row): StoredEvent {
  const seq = integer(row, "seq", "an event");
  const what = `event ${seq}`;
  const hash = Digest.safeParse(row["hash"]);
  if (!hash.success) throw damagedRow(what);
  return Object.freeze({
    seq,
    task: nameOf(row, "task", what),
    n: integer(row, "n", what),
    kind: nameOf(row, "kind", what),
    at: integer(row, "at", what),
    hash: hash.data,
    body: textOf(row, "body", what),
  });
}

/** A document. Throws `storeCorrupt` for a row that no writer of Remit made. */
export function documentOf(row: Row): DocumentRow {
  const what = "a document";
  return documentWith(row, textOf(row, "body", what), integer(row, "version", what));
}

/** The rows of one answer: as many as its limit allows. */
function pageOf<T extends { readonly body: string }>(
  rows: readonly T[],
  row: (row: T) => StorePage["rows"][number],
): Json {
  let [size, end] = [0, 0];
  for (const { body } of rows) {
    size += body.length;
    if (end > 0 && size > MAX_PAGE) break;
    end++;
  }
  return toJson({ rows: rows.slice(0, end).map(row), cut: end < rows.length });
}

export function eventPage(rows: readonly (EventRow & { readonly seq?: number })[]): Json {
  return pageOf(rows, ({ seq = 0, task, n, kind, at, body, hash }) => ({
    ...{ seq, task, n, kind, at, body, hash },
  }));
}

export function documentPage(rows: readonly DocumentRow[]): Json {
  const texts = rows.map((row) => ({ ...row, body: JSON.stringify(row.body) }));
  return pageOf(texts, ({ kind, id, task, version, body }) => ({ kind, id, task, version, body }));
}

export function documentRow({ kind, id, task, version, body }: DocumentRow): Json {
  return { kind, id, task, version, body: JSON.stringify(body) };
}
