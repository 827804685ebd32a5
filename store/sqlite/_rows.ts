/** Checks every field of rows, because a flipped bit can change a value's type. @module */
import { Digest } from "../../contracts/authority/ids.ts";
import type { DocumentRow, StoredEvent } from "../../contracts/task/store.ts";
import { damagedRow, documentOf as documentWith, nameOf, type Row } from "../_rows.ts";
import { tryUnpackBody } from "./_pack.ts";

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

export function bytesOf(row: Row, key: string, what: string): Uint8Array {
  const value = row[key];
  if (!(value instanceof Uint8Array)) throw damagedRow(what);
  return value;
}

/** An event. Throws `storeCorrupt` for a row that no writer of Remit made. */
export function eventOf(row: Row): StoredEvent {
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
export const DOCUMENT_COLUMNS = "kind, id, task, version, CAST(body AS BLOB) AS body";

/** A document. Throws `storeCorrupt` for a row that no writer of Remit made. */
export function documentOf(row: Row): DocumentRow {
  const what = "a document";
  return documentWith(row, text(row, "body", what), integer(row, "version", what));
}
