/** SQL statements of the store. @module */
import type { DocumentQuery, HeadQuery, Store } from "../../contracts/task/store.ts";
import { DEFAULT_LIMIT, KERNEL, type Query as QueryOf } from "../_rows.ts";

/** A bound value of a statement. A list is written as an array of texts. */
export type Value = string | number | readonly string[] | readonly number[];

export type Query = QueryOf<Value>;

const COLUMNS = "l.seq, l.task, l.n, l.kind, l.at, encode(l.hash, 'hex') AS hash, l.body";

/** Collects bound values and gives their parameters. */
function makeClauses(first: Value): {
  readonly values: Value[];
  bind(value: Value): string;
} {
  const values: Value[] = [first];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** A query of `Store.events` over the log of kernel `k`. */
export function eventQuery(
  k: number,
  { task, afterSeq, untilSeq, newest, fromN, kinds, limit = DEFAULT_LIMIT }: Parameters<
    Store["events"]
  >[0],
): Query {
  const { values, bind } = makeClauses(k);
  const where = ["l.kernel = $1"];
  if (task !== undefined) {
    const name = bind(task);
    where.push(
      `l.task = ${name} AND l.scope = CASE WHEN remit.is_task(${name}) THEN 0 ELSE $1 END`,
    );
  }
  if (fromN !== undefined) where.push(`l.n >= ${bind(fromN)}`);
  if (afterSeq !== undefined) where.push(`l.seq > ${bind(afterSeq)}`);
  if (untilSeq !== undefined) where.push(`l.seq <= ${bind(untilSeq)}`);
  if (kinds !== undefined) where.push(`l.kind = ANY (${bind(kinds)}::text[])`);
  // Within one chain of one log `n` rises with `seq`.
  const order = `${task === undefined ? "l.seq" : "l.n"}${newest === true ? " DESC" : ""}`;
  const sql = `SELECT ${COLUMNS} FROM remit.log l WHERE ${where.join(" AND ")} ORDER BY ${order} ` +
    `LIMIT ${bind(limit)}`;
  return { sql, values };
}

/** A query of `Store.heads` over the log of kernel `k`. */
export function headQuery(k: number, { after, untilSeq, limit }: HeadQuery): Query {
  const { values, bind } = makeClauses(k);
  const until = untilSeq === undefined ? "" : ` AND seq <= ${bind(untilSeq)}`;
  const later = after === undefined
    ? ""
    : after === KERNEL
    ? `WHERE ends.task <> '${KERNEL}'`
    : `WHERE ends.task <> '${KERNEL}' AND ends.first > (SELECT first FROM ends WHERE task = ${
      bind(after)
    })`;
  const sql = `WITH ends AS (SELECT task, min(seq) AS first, max(seq) AS last FROM remit.log ` +
    `WHERE kernel = $1${until} GROUP BY task) SELECT ${COLUMNS} FROM ends JOIN remit.log l ` +
    `ON l.kernel = $1 AND l.seq = ends.last ${later} ` +
    `ORDER BY ends.task <> '${KERNEL}', ends.first${
      limit === undefined ? "" : ` LIMIT ${bind(limit)}`
    }`;
  return { sql, values };
}

const DOCUMENT = "kind, id, task, version, body";

/** A query of `Store.documents` over kernel `k`'s documents; 0 for those of every kernel. */
export function documentQuery(
  k: number,
  { kind, task, states, prefix, after, before, newest, limit = DEFAULT_LIMIT }: DocumentQuery,
): Query {
  const { values, bind } = makeClauses(kind);
  const own = k === 0 ? "true" : `kernel = ${bind(k)}`;
  const where = ["kind = $1", own];
  const place = (id: string): string =>
    `(SELECT place FROM remit.documents WHERE kind = $1 AND ${own} AND id = ${bind(id)})`;
  if (task !== undefined) where.push(`task = ${bind(task)}`);
  if (states !== undefined) where.push(`state = ANY (${bind(states)}::text[])`);
  if (prefix !== undefined) where.push(`starts_with(id, ${bind(prefix)})`);
  if (after !== undefined) where.push(`place > ${place(after)}`);
  if (before !== undefined) where.push(`place < ${place(before)}`);
  const order = `place${newest === true ? " DESC" : ""}`;
  const sql = `SELECT ${DOCUMENT} FROM remit.documents WHERE ${where.join(" AND ")} ` +
    `ORDER BY ${order} LIMIT ${bind(limit)}`;
  return { sql, values };
}

/** The statement of `Store.blob`. */
export const BLOB =
  "SELECT encode(salt, 'base64') AS salt, encode(bytes, 'base64') AS bytes FROM remit.blobs " +
  "WHERE scope = CASE WHEN remit.is_task($2) THEN 0 ELSE $1 END AND task = $2 AND digest = decode($3, 'hex')";
