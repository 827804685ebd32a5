/** Rows of the tables `sources` and `chunks`. @module */
import type { Digest, SourceKind, WikiSource } from "../../contracts/mod.ts";
import { trustOf } from "./inside.ts";
import type { Database } from "./sqlite/database.ts";
import { int, json, maybeInt, type Row, text } from "./sqlite/rows.ts";
import type { Chunk } from "./wiki_store.ts";

/** States by their number in the database. */
export const SOURCE_STATES = ["current", "superseded", "removed"] as const;

/** A stored source. Written by this store alone, so its columns are taken as they are. */
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

/** A stored passage. */
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

/** A source by its number. */
export function sourceById(db: Database, id: number): WikiSource | undefined {
  const row = db.get("SELECT * FROM sources WHERE id = ?", id);
  return row === undefined ? undefined : sourceOf(row);
}
