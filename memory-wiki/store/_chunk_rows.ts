/** Puts passages of a source into the index of its label, and takes them out. Within a transaction. @module */
import { LABEL_STEP, labelTable } from "./_numbering.ts";
import type { Database, Value } from "./sqlite/database.ts";
import { int } from "./sqlite/rows.ts";
import type { NewChunk } from "./wiki_store.ts";

const CHUNKS =
  "INSERT INTO chunks(id, source, start_line, end_line, start_byte, end_byte, terms, heading) VALUES";

/** Rows that wait to be written together. */
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

/** Rows of a source's passages, numbered from `first` on; gives how many terms they have. */
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

/** Writes rows of one label. */
export function writeChunkRows(db: Database, label: number, { chunks, terms }: ChunkRows): void {
  db.insert(CHUNKS, chunks);
  db.insert(`INSERT INTO ${labelTable("chunks", label)}(rowid, terms, heading) VALUES`, terms);
}

/** Takes a source's passages, with their vectors, out of every index. */
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
