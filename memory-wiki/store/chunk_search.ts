/** Candidates among passages of sources, from the tables of the labels within a clearance only. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { WikiSource } from "../../contracts/memory/mod.ts";
import { chunkOf, labelTable, sourceOf } from "./_source_rows.ts";
import { type Inside, labelNumber, labelsUpTo, meta } from "./inside.ts";
import { int, maybeInt } from "./sqlite/database.ts";
import type { ChunkSearch } from "./wiki_store.ts";

/** Frequencies cached while nothing changes. */
const MAX_CACHED = 20_000;

type Candidate = ReturnType<ChunkSearch["candidates"]>[number];

/** Makes the search of one wiki. */
export function makeChunkSearch({ db, now }: Inside): ChunkSearch {
  const frequencies = new Map<string, number>();
  let counted = -1;

  function frequency(term: string, label: Label): number {
    const key = `${label} ${term}`;
    const have = frequencies.get(key);
    if (have !== undefined) return have;
    const row = db.get(
      `SELECT doc FROM ${labelTable("terms", labelNumber(label))} WHERE term = ?`,
      term,
    );
    const found = row === undefined ? 0 : int(row, "doc");
    if (frequencies.size >= MAX_CACHED) frequencies.clear();
    frequencies.set(key, found);
    return found;
  }

  /** The best passages of one label, in order, without expired sources. */
  function bestOf(label: Label, match: string, limit: number): readonly Candidate[] {
    const index = labelTable("chunks", labelNumber(label));
    const sql = `SELECT rowid, rank FROM ${index} WHERE ${index} MATCH ? ORDER BY rank LIMIT ?`;
    const sources = new Map<number, WikiSource>();
    const time = now();
    for (let ask = limit;; ask *= 4) {
      const rows = db.all(sql, match, ask);
      const found: Candidate[] = [];
      for (const row of rows) {
        const joined = db.get(
          "SELECT c.*, s.expires_at FROM chunks c JOIN sources s ON s.id = c.source WHERE c.id = ?",
          int(row, "rowid"),
        );
        if (joined === undefined || (maybeInt(joined, "expires_at") ?? Infinity) <= time) continue;
        const chunk = chunkOf(joined);
        let source = sources.get(chunk.source);
        if (source === undefined) {
          source = sourceOf(db.get("SELECT * FROM sources WHERE id = ?", chunk.source) ?? {});
          sources.set(chunk.source, source);
        }
        found.push(Object.freeze({ chunk, source, bm25: int(row, "rank") }));
        if (found.length === limit) return found;
      }
      if (rows.length < ask) return found;
    }
  }

  return Object.freeze<ChunkSearch>({
    candidates({ match, clearance, limit }) {
      if (match.trim() === "" || limit < 1) return [];
      try {
        return labelsUpTo(clearance).flatMap((label) => bestOf(label, match, limit))
          .sort((a, b) => a.bm25 - b.bm25 || a.chunk.id - b.chunk.id);
      } catch (error) {
        if (error instanceof Error && /fts5|no such column|unterminated/.test(error.message)) {
          throw new Fault("invalidInput", `Cannot search: "${match.slice(0, 200)}" is no query`, {
            cause: error,
          });
        }
        throw error;
      }
    },
    statistics(terms, clearance) {
      const generation = meta(db, "generation");
      if (generation !== counted) frequencies.clear();
      counted = generation;
      const labels = labelsUpTo(clearance);
      const row = db.get(
        "SELECT total(chunks) AS chunks, total(terms) AS terms FROM labels WHERE label <= ?",
        labelNumber(clearance),
      ) ?? {};
      const chunks = int(row, "chunks");
      return {
        chunks,
        averageTerms: chunks === 0 ? 0 : int(row, "terms") / chunks,
        frequency: new Map(terms.map((term) => [
          term,
          labels.reduce((all, label) => all + frequency(term, label), 0),
        ])),
      };
    },
  });
}
