/**
 * Propagates lower trust: when bytes turn out worse than recorded, every source with them and every page that
 * cites them becomes worse at once. docs/decision/0013.
 * @module
 */
import { Fault } from "../../contracts/base/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { type Batch, chunkRows, dropChunks, makeBatch, sourceOf } from "./_source_rows.ts";
import {
  changed,
  colourNumber,
  type Inside,
  labelNumber,
  recordedTrust,
  recordTrust,
  trustOf,
} from "./inside.ts";
import { pageRow, versionText } from "./page/versions.ts";
import { int, type Row, text } from "./sqlite/database.ts";
import { sameTrust, type Trust, worsenedTrust } from "./trust_rules.ts";
import { appendEvent } from "./wiki_log.ts";
import type { NewChunk } from "./wiki_store.ts";

/** Bytes above which a text is not split again. */
const MAX_BYTES = 1_000_000_000;

interface Found {
  readonly digest: string;
  readonly trust: Trust;
}

/** Records colour and label of bytes, and propagates a decrease. Within a transaction. */
export function spreadTrust(
  inside: Inside,
  digest: string,
  trust: Trust,
  { batch = makeBatch(inside), how }: { readonly batch?: Batch; readonly how?: "made" } = {},
): void {
  const { db } = inside;
  const work: Found[] = [{ digest, trust }];
  const [sources, pages] = [new Set<number>(), new Set<string>()];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const before = recordedTrust(db, next.digest);
    recordTrust(db, next.digest, next.trust, next.digest === digest ? how : undefined);
    const now = recordedTrust(db, next.digest);
    // Unrecorded bytes occur nowhere else in the wiki.
    if (before === undefined || now === undefined || sameTrust(before, now)) continue;
    for (const row of havingBytes(inside, next.digest)) {
      const worse = worsenedTrust(trustOf(row), now);
      if (!sameTrust(trustOf(row), worse)) {
        worsenSource(inside, row, worse, batch);
        sources.add(int(row, "id"));
      }
      const [raw, form] = [text(row, "digest"), text(row, "text_digest")];
      work.push({ digest: raw, trust: worse }, { digest: form, trust: worse });
      for (const page of db.all("SELECT page FROM citations WHERE digest = ?", raw)) {
        const found = worsenPage(inside, text(page, "page"), raw, worse);
        if (found === undefined) continue;
        pages.add(text(page, "page"));
        work.push(found);
      }
    }
  }
  if (sources.size + pages.size === 0) return;
  batch.write();
  appendEvent(inside, {
    kind: "ingest",
    by: "remit",
    text: `bytes that were known became ${trust.colour} and ${trust.label}: ` +
      `${sources.size} other sources and ${pages.size} pages with them`,
  });
  changed(db, "pages");
}

function havingBytes({ db }: Inside, digest: string): readonly Row[] {
  return [
    ...db.all("SELECT * FROM sources WHERE digest = ?", digest),
    ...db.all("SELECT * FROM sources WHERE text_digest = ? AND text_digest <> digest", digest),
  ];
}

/** Changes a source's colour and label; its passages move to the index of the new label. */
function worsenSource(inside: Inside, row: Row, { colour, label }: Trust, batch: Batch): void {
  const { db } = inside;
  const [id, from, to] = [int(row, "id"), int(row, "label"), labelNumber(label)];
  db.run("UPDATE sources SET colour = ?, label = ? WHERE id = ?", colourNumber(colour), to, id);
  const count = int(row, "chunks");
  if (from === to || count === 0) return;
  // Rows of the same batch must be inserted before they can be removed.
  batch.write();
  dropChunks(db, { label: from, first: int(row, "first_chunk"), count });
  const chunks = chunksOf(inside, row);
  const { numbering, rows } = batch.of(to);
  const first = numbering.chunks(chunks.length);
  batch.terms[to] = (batch.terms[to] ?? 0) + chunkRows(rows, id, first, chunks);
  db.run("UPDATE sources SET first_chunk = ?, chunks = ? WHERE id = ?", first, chunks.length, id);
}

/**
 * Splits a source's text again, since an index does not return its words. Empty if the text is not the ingested one.
 */
function chunksOf({ folder, chunk }: Inside, row: Row): readonly NewChunk[] {
  const { kind, title, text, textDigest } = sourceOf(row);
  try {
    const bytes = folder.read(text, MAX_BYTES);
    if (bytes === undefined || sha256Hex(bytes) !== textDigest) return [];
    return chunk?.(bytes, kind, title).chunks ?? [];
  } catch (error) {
    if (error instanceof Fault && error.code !== "storeFull") return [];
    throw error;
  }
}

/**
 * Changes the colour and label of a page and of its versions with these citations. Returns the file's new
 * trust, if changed.
 */
function worsenPage(
  inside: Inside,
  name: string,
  digest: string,
  found: Trust,
): Found | undefined {
  const { db } = inside;
  const row = pageRow(inside, name);
  if (row === undefined || row.deleted) return undefined;
  worsenHistory(inside, name, { before: row.page.version, digest, found });
  const trust = worsenedTrust(row.page, found);
  const marked = db.get(
    "SELECT 1 AS found FROM marks WHERE page = ? AND digest = ?",
    name,
    row.page.digest,
  );
  // A person signed this exact version.
  if (marked !== undefined || sameTrust(row.page, trust)) return undefined;
  db.run(
    "UPDATE pages SET page = ?, label = ? WHERE name = ?",
    JSON.stringify({ ...row.page, ...trust }),
    labelNumber(trust.label),
    name,
  );
  worsenVersion(inside, name, row.page.version, trust);
  return { digest: row.page.digest, trust };
}

function worsenHistory(
  inside: Inside,
  name: string,
  { before, digest, found }: { before: number; digest: string; found: Trust },
): void {
  const rows = inside.db.all(
    "SELECT version, digest, colour, label FROM page_versions v WHERE name = ? AND version < ? AND deleted = 0 " +
      "AND NOT EXISTS (SELECT 1 FROM marks m WHERE m.page = v.name AND m.digest = v.digest)",
    name,
    before,
  );
  for (const row of rows) {
    const trust = worsenedTrust(trustOf(row), found);
    const version = int(row, "version");
    if (sameTrust(trustOf(row), trust)) continue;
    if (versionText(inside, name, version)?.includes(`sha256:${digest.slice(0, 16)}`)) {
      worsenVersion(inside, name, version, trust);
    }
  }
}

function worsenVersion({ db }: Inside, name: string, version: number, trust: Trust): void {
  db.run(
    "UPDATE page_versions SET colour = ?, label = ? WHERE name = ? AND version = ?",
    colourNumber(trust.colour),
    labelNumber(trust.label),
    name,
    version,
  );
}
