/** Sources in the database. Used by memory-wiki/store/open.ts. @module */
import { Fault } from "../../../contracts/base/mod.ts";
import type { WikiSource } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import {
  chunkOf,
  LABEL_STEP,
  retire,
  SOURCE_STATES,
  sourceById,
  sourceOf,
} from "../_source_rows.ts";
import { followCatalogue } from "../catalogue/catalogue.ts";
import { digestOfFile } from "../files/raw_keep.ts";
import { changed, type Inside, labelNumber } from "../inside.ts";
import { SPAN_BYTES } from "../page/citations.ts";
import { spreadTrust } from "../spread_trust.ts";
import { int, type Row } from "../sqlite/database.ts";
import type { Chunk, SourceTable } from "../wiki_store.ts";
import { makeSourceIntake } from "./intake.ts";

/** Default byte limit of {@link SourceTable.lines}. */
const LINES_BYTES = 65_536;
/** Upper bound for texts with a prefix. */
const AFTER = "\u{10ffff}";

/** Makes the table of one wiki. */
export function makeSourceTable(inside: Inside): SourceTable {
  const { db, folder, lines } = inside;
  const intake = makeSourceIntake(inside);

  const one = (row: Row | undefined): WikiSource | undefined =>
    row === undefined ? undefined : sourceOf(row);
  const current = (key: string): Row | undefined =>
    db.get("SELECT * FROM sources WHERE key = ? AND state = 0 ORDER BY version DESC LIMIT 1", key);
  const textOf = (source: WikiSource) => ({ path: source.text, digest: source.textDigest });

  function byId(id: number): WikiSource | undefined {
    return sourceById(db, id);
  }

  return Object.freeze<SourceTable>({
    current: (key) => one(current(key)),
    byId,
    byDigest(prefix) {
      if (!/^[0-9a-f]{12,64}$/.test(prefix)) return undefined;
      return one(
        db.get(
          "SELECT * FROM sources WHERE digest >= ? AND digest < ? ORDER BY state, label, id LIMIT 1",
          prefix,
          `${prefix}g`,
        ),
      );
    },
    byFile: (file) =>
      one(
        db.get(
          "SELECT * FROM sources WHERE raw = ?1 OR text = ?1 ORDER BY state, label, id LIMIT 1",
          file,
        ),
      ),
    async add(source) {
      const [taken] = await intake.addAll([source]);
      if (taken === undefined) throw new TypeError("Cannot take in a source: nothing was taken");
      return taken.source;
    },
    addAll: (sources) => intake.addAll(sources),
    remove(key) {
      db.transaction("mark a source as removed", () => {
        const row = current(key);
        if (row === undefined) return;
        retire(inside, row, "removed");
        changed(db, "pages");
      });
      followCatalogue(inside);
    },
    list({ clearance = "secret", state, keyPrefix, afterId = 0, limit = -1 }) {
      const prefix = keyPrefix ?? "";
      return db.all(
        "SELECT * FROM sources WHERE id > ? AND label <= ? AND (? < 0 OR state = ?) AND " +
          "(? = '' OR (key >= ? AND key < ?)) ORDER BY id LIMIT ?",
        afterId,
        labelNumber(clearance),
        state === undefined ? -1 : 0,
        state === undefined ? 0 : SOURCE_STATES.indexOf(state),
        prefix,
        prefix,
        prefix + AFTER,
        limit,
      ).map(sourceOf);
    },
    count(clearance) {
      const label = labelNumber(clearance);
      const sources = db.get(
        "SELECT count(*) AS n FROM sources WHERE state = 0 AND label <= ?",
        label,
      );
      const chunks = db.get("SELECT total(chunks) AS n FROM labels WHERE label <= ?", label);
      return { sources: int(sources ?? {}, "n"), chunks: int(chunks ?? {}, "n") };
    },
    chunksOf(id) {
      const row = db.get("SELECT label, first_chunk, chunks FROM sources WHERE id = ?", id);
      if (row === undefined || int(row, "chunks") === 0) return [];
      const first = int(row, "first_chunk");
      return db.all(
        `SELECT * FROM chunks WHERE id BETWEEN ? AND ? AND id % ${LABEL_STEP} = ? ORDER BY id`,
        first,
        first + LABEL_STEP * (int(row, "chunks") - 1),
        int(row, "label"),
      ).map(chunkOf);
    },
    lines: (source, from, to, maxBytes = LINES_BYTES) =>
      lines.lines(textOf(source), from, Math.min(to, source.lines), maxBytes),
    span: (source, from, to) =>
      sha256Hex(lines.lines(textOf(source), from, Math.min(to, source.lines), SPAN_BYTES)),
    passage(chunk: Chunk) {
      const source = byId(chunk.source);
      if (source === undefined) {
        throw new Fault("notFound", `Cannot read passage ${chunk.id}: its source is not there`);
      }
      return lines.passage(textOf(source), chunk.startByte, chunk.endByte);
    },
    intact: async ({ raw, digest, text, textDigest }) =>
      await Promise.resolve(
        digestOfFile(folder, raw) === digest &&
          (text === raw || digestOfFile(folder, text) === textDigest),
      ),
    recordExport(digest, colour, label) {
      db.transaction(
        "record an export",
        () => spreadTrust(inside, digest, { colour, label }, { how: "made" }),
      );
      followCatalogue(inside);
    },
  });
}
