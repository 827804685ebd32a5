/** The SQL of queries for events and documents. @module */
import type { DocumentQuery, HeadQuery, Store } from "../../contracts/store.ts";
import { DOCUMENT_COLUMNS } from "./_rows.ts";

/** A value bound to a statement. */
export type Value = string | number | Uint8Array;

/** A statement and what to bind. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Rows that a query returns when it names no limit. */
const DEFAULT_LIMIT = 1_000;

// By these words SQLite knows that the index of chains, which leaves the kernel's out, will do.
const NOT_KERNEL = "e.task <> 1";

/** The chain whose events are numbered by 1 in `names`. */
export const KERNEL = "kernel";
/** The greatest `seq`. */
export const LAST_SEQ = "SELECT max(seq) AS seq FROM events";
/** The place in its chain of the first kernel event after a `seq`. */
export const NEXT_KERNEL =
  "SELECT e.n FROM events e WHERE e.task = 1 AND e.seq > ? ORDER BY e.seq LIMIT 1";

// Outer joins, so that a lost name does not hide a row.
const ROWS = `SELECT e.seq, t.name AS task, e.n, k.name AS kind, e.at, e.hash, e.body
  FROM events e LEFT JOIN names t ON t.id = e.task LEFT JOIN names k ON k.id = e.kind`;

/** The last event of the kernel's chain. */
export const KERNEL_HEAD = `${ROWS} WHERE e.task = 1 ORDER BY e.seq DESC LIMIT 1`;

/** The last event of a chain that is not the kernel's. */
export const OTHER_HEAD =
  `${ROWS} WHERE ${NOT_KERNEL} AND e.task = (SELECT id FROM names WHERE name = ?) ORDER BY e.n DESC LIMIT 1`;

/** The last event of every other chain. A skip-scan: its cost is in the number of tasks that it passes. */
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

/** The queries of `Store.heads`, whose answers follow one another. */
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
  // The kernel's chain has no index: it is read in order of append.
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
export function documentQuery(
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
  // Each state by itself lies in order in the index, and gives no more than is asked for.
  const one =
    `SELECT rowid FROM (SELECT rowid FROM documents WHERE state = ? AND ${filter} ${end})`;
  const each = states.length === 0 ? "NULL" : states.map(() => one).join(" UNION ALL ");
  return {
    sql: `${select} rowid IN (${each}) ${end}`,
    values: [...states.flatMap((state) => [state, ...values, limit]), limit],
  };
}
