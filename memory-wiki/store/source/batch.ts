/** What one transaction does to the passages of sources, gathered by label. @module */
import { type ChunkRows, dropChunks, writeChunkRows } from "../_chunk_rows.ts";
import { type Numbering, numberingOf } from "../_numbering.ts";
import type { Inside } from "../inside.ts";
import { int, type Row } from "../sqlite/rows.ts";

/** Rows of one transaction, by label. */
export interface Batch {
  readonly terms: number[];
  of(label: number): { readonly numbering: Numbering; readonly rows: ChunkRows };
  /** Puts what has gathered into the indexes. */
  write(): void;
}

/** An empty batch. Within a transaction. */
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

/** Ends a source's being found. Within a transaction. */
export function retire(
  { db }: Inside,
  row: Row,
  state: "superseded" | "removed",
  batch?: Batch,
): void {
  // What the same batch brought has to be there to be taken out.
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
