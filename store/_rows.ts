/** Rows and queries of both engines. @module */
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json } from "../contracts/base/json.ts";
import type { DocumentRow } from "../contracts/task/store.ts";

/** A row of a database. */
export type Row = Readonly<Record<string, unknown>>;

/** A statement with its bound values. */
export interface Query<Value> {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Name of the chain of a kernel's own events. */
export const KERNEL = "kernel";
/** Rows of a query without a limit. */
export const DEFAULT_LIMIT = 1_000;
const NAME = /^[\x21-\x7e]{1,256}$/;

/** The fault of a row that no writer of Remit made. */
export function damagedRow(what: string, cause?: unknown): Fault {
  return new Fault("storeCorrupt", `Cannot read ${what}: the row is damaged`, { cause });
}

/** A column's name of a task, kind or document. Throws `storeCorrupt` for another value. */
export function nameOf(row: Row, key: string, what: string): string {
  const value = row[key];
  if (typeof value !== "string" || !NAME.test(value)) throw damagedRow(what);
  return value;
}

/** A document with the body `text`. Throws `storeCorrupt` for a row that no writer of Remit made. */
export function documentOf(row: Row, text: string, version: number): DocumentRow {
  const what = "a document";
  let body: Json;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw damagedRow(what, error);
  }
  if (!isObject(body)) throw damagedRow(what);
  return Object.freeze({
    kind: nameOf(row, "kind", what),
    id: nameOf(row, "id", what),
    task: nameOf(row, "task", what),
    ...{ version, body },
  });
}
