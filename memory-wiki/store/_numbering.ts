/**
 * Numbers of sources and chunks: `3 * n + label`, n counted for each label by itself, so that what a caller may not
 * see does not shift the numbers that it sees. (test: "what bob may see is the same byte by byte …")
 * @module
 */
import { Label } from "../../contracts/mod.ts";
import type { Database } from "./sqlite/database.ts";
import { int } from "./sqlite/rows.ts";

/** From one number of a label to its next. */
export const LABEL_STEP = Label.options.length;

/** The table of a label: `chunks_public`, `terms_secret`. */
export function labelTable(table: "chunks" | "terms", label: number): string {
  const name = Label.options[label];
  if (name === undefined) throw new TypeError(`Cannot name a table: no label has number ${label}`);
  return `${table}_${name}`;
}

/** Deals out numbers of one label. */
export interface Numbering {
  readonly label: number;
  source(): number;
  /** The first of so many in a row, each {@link LABEL_STEP} after the other. */
  chunks(count: number): number;
  /** Writes what was dealt out and how many terms came with it. */
  save(terms: number): void;
}

/** Reads how far a label has come. Within a transaction. */
export function numberingOf(db: Database, label: number): Numbering {
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
