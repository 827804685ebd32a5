/** Rows of the tables `sources` and `chunks`: columns, ids and batches. @module */
import { type Digest, Label } from "../../contracts/authority/mod.ts";
import type { SourceKind, WikiSource } from "../../contracts/memory/mod.ts";
import { type Inside, trustOf } from "./inside.ts";
import {
  type Database,
  int,
  json,
  maybeInt,
  type Row,
  text,
  type Value,
} from "./sqlite/database.ts";
import type { Chunk, NewChunk } from "./wiki_store.ts";

/** States by their number in the database. */
export const SOURCE_STATES = ["current", "superseded", "removed"] as const;

/** Parses a stored source. Only this store writes the columns, so enumerations are not validated. */
export function sourceOf(row: Row): WikiSource {
  const expiresAt = maybeInt(row, "expires_at");
  return Object.freeze({
    id: int(row, "id"),
    key: text(row, "key"),
    version: int(row, "version"),
    digest: text(row, "digest") as Digest,
    textDigest: text(row, "text_digest") as Digest,
    kind: text(row, "kind") as SourceKind,
    title: text(row, "title"),
    raw: text(row, "raw"),
    text: text(row, "text"),
    bytes: int(row, "bytes"),
    lines: int(row, "lines"),
    ...trustOf(row),
    owner: text(row, "owner"),
    provenance: json(row, "provenance") as WikiSource["provenance"],
    state: SOURCE_STATES[int(row, "state")] ?? "removed",
    ingestedAt: int(row, "ingested_at"),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}

/** Parses a stored passage. */
export function chunkOf(row: Row): Chunk {
  return Object.freeze({
    id: int(row, "id"),
    source: int(row, "source"),
    startLine: int(row, "start_line"),
    endLine: int(row, "end_line"),
    startByte: int(row, "start_byte"),
    endByte: int(row, "end_byte"),
    heading: text(row, "heading"),
  });
}

/** A source by id. */
export function sourceById(db: Database, id: number): WikiSource | undefined {
  const row = db.get("SELECT * FROM sources WHERE id = ?", id);
  return row === undefined ? undefined : sourceOf(row);
}

// Ids of sources and chunks: `3 * n + label`, with a counter per label, so that hidden sources do not shift
// visible ids (test: "what bob may see is the same byte by byte …").

/** Distance between consecutive ids of a label. */
export const LABEL_STEP = Label.options.length;

/** The table of a label: `chunks_public`, `terms_secret`. */
export function labelTable(table: "chunks" | "terms", label: number): string {
  const name = Label.options[label];
  if (name === undefined) throw new TypeError(`Cannot name a table: no label has number ${label}`);
  return `${table}_${name}`;
}

/** Allocates ids of one label. */
export interface Numbering {
  readonly label: number;
  source(): number;
  /** The first of `count` ids at distance {@link LABEL_STEP}. */
  chunks(count: number): number;
  /** Stores the counters, and the number of terms added. */
  save(terms: number): void;
}

/** Reads the counters of a label. Within a transaction. */
function numberingOf(db: Database, label: number): Numbering {
  const row = db.get("SELECT next_source, next_chunk FROM labels WHERE label = ?", label) ?? {};
  let [source, chunk, dealt] = [int(row, "next_source"), int(row, "next_chunk"), 0];
  return Object.freeze<Numbering>({
    label,
    source: () => LABEL_STEP * source++ + label,
    chunks(count) {
      const first = LABEL_STEP * chunk + label;
      chunk += count;
      dealt += count;
      return first;
    },
    save: (terms) =>
      void db.run(
        "UPDATE labels SET next_source = ?, next_chunk = ?, chunks = chunks + ?, terms = terms + ? WHERE label = ?",
        source,
        chunk,
        dealt,
        terms,
        label,
      ),
  });
}

const CHUNKS =
  "INSERT INTO chunks(id, source, start_line, end_line, start_byte, end_byte, terms, heading) VALUES";

/** Rows to be inserted together. */
export interface ChunkRows {
  readonly chunks: (readonly Value[])[];
  readonly terms: (readonly Value[])[];
}

function termCount(chunk: NewChunk): number {
  const words = (joined: string): number => {
    if (joined === "") return 0;
    let count = 1;
    for (let at = joined.indexOf(" "); at !== -1; at = joined.indexOf(" ", at + 1)) count += 1;
    return count;
  };
  return words(chunk.terms) + words(chunk.headingTerms);
}

/** Adds the rows of a source's passages, with ids from `first`; returns their number of terms. */
export function chunkRows(
  into: ChunkRows,
  source: number,
  first: number,
  chunks: readonly NewChunk[],
): number {
  let [id, all] = [first, 0];
  for (const chunk of chunks) {
    const terms = termCount(chunk);
    const { startLine, endLine, startByte, endByte, heading } = chunk;
    into.chunks.push([id, source, startLine, endLine, startByte, endByte, terms, heading]);
    into.terms.push([id, chunk.terms, chunk.headingTerms]);
    id += LABEL_STEP;
    all += terms;
  }
  return all;
}

/** Inserts the rows of one label. */
function writeChunkRows(db: Database, label: number, { chunks, terms }: ChunkRows): void {
  db.insert(CHUNKS, chunks);
  db.insert(`INSERT INTO ${labelTable("chunks", label)}(rowid, terms, heading) VALUES`, terms);
}

/** Removes a source's passages with their vectors from all indexes. */
export function dropChunks(
  db: Database,
  source: { readonly label: number; readonly first: number; readonly count: number },
): void {
  if (source.count === 0) return;
  const last = source.first + LABEL_STEP * (source.count - 1);
  const range = `BETWEEN ? AND ? AND id % ${LABEL_STEP} = ?`;
  const row = db.get(
    `SELECT count(*) AS n, total(terms) AS terms FROM chunks WHERE id ${range}`,
    source.first,
    last,
    source.label,
  );
  const index = labelTable("chunks", source.label);
  for (let id = source.first; id <= last; id += LABEL_STEP) {
    db.run(`DELETE FROM ${index} WHERE rowid = ?`, id);
    db.run("DELETE FROM chunk_vectors WHERE chunk = ?", id);
  }
  db.run(`DELETE FROM chunks WHERE id ${range}`, source.first, last, source.label);
  db.run(
    "UPDATE labels SET chunks = chunks - ?, terms = terms - ? WHERE label = ?",
    row === undefined ? 0 : int(row, "n"),
    row === undefined ? 0 : int(row, "terms"),
    source.label,
  );
}

/** Rows of one transaction, by label. */
export interface Batch {
  readonly terms: number[];
  of(label: number): { readonly numbering: Numbering; readonly rows: ChunkRows };
  /** Inserts the collected rows. */
  write(): void;
}

/** Makes an empty batch. Within a transaction. */
export function makeBatch({ db }: Inside): Batch {
  const open = new Map<number, { readonly numbering: Numbering; readonly rows: ChunkRows }>();
  const terms: number[] = [];
  return {
    terms,
    of(label) {
      const have = open.get(label);
      if (have !== undefined) return have;
      const made = { numbering: numberingOf(db, label), rows: { chunks: [], terms: [] } };
      open.set(label, made);
      return made;
    },
    write() {
      for (const [label, { numbering, rows }] of open) {
        writeChunkRows(db, label, rows);
        numbering.save(terms[label] ?? 0);
      }
      open.clear();
      terms.length = 0;
    },
  };
}

/** Removes a source from search. Within a transaction. */
export function retire(
  { db }: Inside,
  row: Row,
  state: "superseded" | "removed",
  batch?: Batch,
): void {
  // Rows of the same batch must be inserted before they can be removed.
  batch?.write();
  const id = int(row, "id");
  dropChunks(db, {
    label: int(row, "label"),
    first: int(row, "first_chunk"),
    count: int(row, "chunks"),
  });
  db.run(
    "UPDATE sources SET state = ?, chunks = 0 WHERE id = ?",
    state === "superseded" ? 1 : 2,
    id,
  );
}
