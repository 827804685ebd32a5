/** Checks every field of rows, because a flipped bit can change a value's type. @module */
import { Digest } from "../../contracts/authority/ids.ts";
import { isObject, type Json } from "../../contracts/base/json.ts";
import type { DocumentRow, StoredEvent } from "../../contracts/task/store.ts";
import { damagedRow } from "./_faults.ts";
import { tryUnpackBody } from "./_pack.ts";

/** A row of `node:sqlite`. */
export type SqlRow = Readonly<Record<string, unknown>>;

// Fatal, and with the byte order mark kept, so that two different byte strings never read as one text.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const NAME = /^[\x21-\x7e]{1,256}$/;

function integer(row: SqlRow, key: string, what: string): number {
  const value = row[key];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw damagedRow(what);
  return value;
}

function name(row: SqlRow, key: string, what: string): string {
  const value = row[key];
  if (typeof value !== "string" || !NAME.test(value)) throw damagedRow(what);
  return value;
}

function text(row: SqlRow, key: string, what: string): string {
  const value = row[key];
  if (!(value instanceof Uint8Array)) throw damagedRow(what);
  try {
    return UTF8.decode(value);
  } catch (error) {
    throw damagedRow(what, error);
  }
}

export function bytesOf(row: SqlRow, key: string, what: string): Uint8Array {
  const value = row[key];
  if (!(value instanceof Uint8Array)) throw damagedRow(what);
  return value;
}

/** An event. Throws `storeCorrupt` for a row that no writer of Remit made. */
export function eventOf(row: SqlRow): StoredEvent {
  const seq = integer(row, "seq", "an event");
  const what = `event ${seq}`;
  const hash = bytesOf(row, "hash", what);
  if (hash.length !== 32) throw damagedRow(what);
  return Object.freeze({
    seq,
    task: name(row, "task", what),
    n: integer(row, "n", what),
    kind: name(row, "kind", what),
    at: integer(row, "at", what),
    hash: Digest.parse(hash.toHex()),
    body: body(row, what),
  });
}

function body(row: SqlRow, what: string): string {
  const text = tryUnpackBody(bytesOf(row, "body", what));
  if (text === undefined) throw damagedRow(what);
  return text;
}

/** Columns of a document, for {@link documentOf}. */
export const DOCUMENT_COLUMNS = "kind, id, task, version, CAST(body AS BLOB) AS body";

/** A document. Throws `storeCorrupt` for a row that no writer of Remit made. */
export function documentOf(row: SqlRow): DocumentRow {
  const what = "a document";
  const source = text(row, "body", what);
  let value: Json;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw damagedRow(what, error);
  }
  if (!isObject(value)) throw damagedRow(what);
  return Object.freeze({
    kind: name(row, "kind", what),
    id: name(row, "id", what),
    task: name(row, "task", what),
    version: integer(row, "version", what),
    body: value,
  });
}
