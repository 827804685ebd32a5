/** Vectors of chunks and page sections, by embedder. Used by open.ts. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { chunkOf, LABEL_STEP } from "./_source_rows.ts";
import { type Inside, labelNumber } from "./inside.ts";
import { bytes, int } from "./sqlite/database.ts";
import type { VectorTable } from "./wiki_store.ts";

const CHUNK = /^chunk:([1-9]\d{0,15})$/;
/** Maximum dimensions. */
const MAX_DIMENSIONS = 4_096;

function blobOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

function vectorOf(blob: Uint8Array): Float32Array {
  // Copied, since a blob may be unaligned.
  return new Float32Array(blob.slice().buffer);
}

/** Makes the table of one wiki. */
export function makeVectorTable({ db }: Inside): VectorTable {
  function embedderId(name: string): number {
    const row = db.get("SELECT id FROM embedders WHERE name = ?", name);
    return row === undefined ? 0 : int(row, "id");
  }

  function provide(name: string, dimensions: number): number {
    const row = db.get("SELECT id, dimensions FROM embedders WHERE name = ?", name);
    if (row === undefined) {
      db.run("INSERT INTO embedders(name, dimensions) VALUES(?, ?)", name, dimensions);
      return embedderId(name);
    }
    if (int(row, "dimensions") === dimensions) return int(row, "id");
    throw new Fault(
      "invalidInput",
      `Cannot keep vectors of "${name}": they have ${dimensions} dimensions, not ${
        int(row, "dimensions")
      }`,
    );
  }

  return Object.freeze<VectorTable>({
    put(embedder, vectors) {
      const dimensions = vectors[0]?.vector.length;
      if (dimensions === undefined) return;
      if (
        dimensions < 1 || dimensions > MAX_DIMENSIONS ||
        vectors.some((v) => v.vector.length !== dimensions)
      ) {
        throw new Fault(
          "invalidInput",
          `Cannot keep vectors of "${embedder}": their dimensions differ`,
        );
      }
      db.transaction("keep vectors", () => {
        const id = provide(embedder, dimensions);
        for (const { key, vector } of vectors) {
          const chunk = CHUNK.exec(key)?.[1];
          if (chunk !== undefined) {
            // The chunk may have been removed meanwhile.
            db.run(
              "INSERT OR REPLACE INTO chunk_vectors(chunk, embedder, vector) SELECT id, ?, ? FROM chunks WHERE id = ?",
              id,
              blobOf(vector),
              Number(chunk),
            );
          } else {
            db.run(
              "INSERT OR REPLACE INTO other_vectors(key, embedder, vector) VALUES(?, ?, ?)",
              key,
              id,
              blobOf(vector),
            );
          }
        }
      });
    },
    get(embedder, keys) {
      const id = embedderId(embedder);
      const found = new Map<string, Float32Array>();
      for (const key of keys) {
        const chunk = CHUNK.exec(key)?.[1];
        const row = chunk === undefined
          ? db.get("SELECT vector FROM other_vectors WHERE key = ? AND embedder = ?", key, id)
          : db.get(
            "SELECT vector FROM chunk_vectors WHERE chunk = ? AND embedder = ?",
            Number(chunk),
            id,
          );
        if (row !== undefined) found.set(key, vectorOf(bytes(row, "vector")));
      }
      return found;
    },
    missing: (embedder, clearance, limit) =>
      db.all(
        `SELECT * FROM chunks c WHERE id % ${LABEL_STEP} <= ? AND NOT EXISTS ` +
          "(SELECT 1 FROM chunk_vectors v WHERE v.chunk = c.id AND v.embedder = ?) ORDER BY id LIMIT ?",
        labelNumber(clearance),
        embedderId(embedder),
        limit,
      ).map(chunkOf),
    count: (embedder) =>
      int(
        db.get(
          "SELECT (SELECT count(*) FROM chunk_vectors WHERE embedder = ?1) + " +
            "(SELECT count(*) FROM other_vectors WHERE embedder = ?1) AS n",
          embedderId(embedder),
        ) ?? {},
        "n",
      ),
  });
}
