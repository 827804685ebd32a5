/** Ingests sources: raw files first, then one transaction per batch. @module */
import type { Digest } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { TEXT_KINDS, TRIVIAL_BYTES, type WikiSource } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import {
  type Batch,
  chunkRows,
  makeBatch,
  retire,
  SOURCE_STATES,
  sourceById,
  sourceOf,
} from "../_source_rows.ts";
import { checkCatalogue, followCatalogue } from "../catalogue/catalogue.ts";
import { placeOfRaw, rawNames, type RawPlace, textNames, writeRaw } from "../files/raw_keep.ts";
import { countLines } from "../files/text_lines.ts";
import {
  changed,
  colourNumber,
  type Inside,
  keepToWiki,
  labelNumber,
  recordedTrust,
} from "../inside.ts";
import { spreadTrust } from "../spread_trust.ts";
import { int, type Row } from "../sqlite/database.ts";
import { sourceTrust, type Trust } from "../trust_rules.ts";
import type { NewSource, TakenSource } from "../wiki_store.ts";

/** A source with its place in raw/. */
interface Kept {
  readonly source: NewSource | FoundSource;
  readonly digest: Digest;
  readonly raw: RawPlace;
  readonly text: RawPlace & { readonly digest: Digest; readonly bytes: Uint8Array };
}

/** An adopted version, whose files exist already. */
export interface FoundSource extends NewSource {
  readonly found: {
    /** `raw/NAME`; equal if the raw bytes are the text. */
    readonly raw: string;
    readonly text: string;
    /** If known. */
    readonly version?: number;
    readonly state: WikiSource["state"];
  };
}

/** Ingests batches. */
export interface SourceIntake {
  addAll(sources: readonly (NewSource | FoundSource)[]): Promise<readonly TakenSource[]>;
}

const INSERT =
  `INSERT INTO sources(id, key, version, digest, text_digest, kind, title, raw, text, bytes, text_bytes,
lines, label, colour, owner, provenance, state, ingested_at, expires_at, first_chunk, chunks) VALUES`;

/** Makes the ingestion of one wiki. */
export function makeSourceIntake(inside: Inside): SourceIntake {
  const { db, folder } = inside;

  function newest(key: string): Row | undefined {
    return db.get("SELECT * FROM sources WHERE key = ? ORDER BY version DESC LIMIT 1", key);
  }

  /** The existing version, if ingesting these bytes would change nothing. */
  function same(source: NewSource | FoundSource, digest: Digest): WikiSource | undefined {
    const version = versionOf(source);
    if (version !== undefined) {
      const sql = "SELECT * FROM sources WHERE key = ? AND version = ?";
      const there = db.get(sql, source.key, version);
      return there === undefined ? undefined : sourceOf(there);
    }
    const row = newest(source.key);
    if (row === undefined) return undefined;
    const have = sourceOf(row);
    const trust = sourceTrust(source, recordedTrust(db, digest));
    const equal = have.state === "current" && have.digest === digest &&
      have.label === trust.label && have.colour === trust.colour;
    return equal ? have : undefined;
  }

  /** Updates the expiry of a source that was ingested again. */
  function renewed(have: WikiSource, expiresAt: number | undefined): WikiSource {
    if (have.expiresAt === expiresAt) return have;
    return db.transaction("renew a source", () => {
      db.run("UPDATE sources SET expires_at = ? WHERE id = ?", expiresAt ?? null, have.id);
      changed(db, "sources");
      return sourceById(db, have.id) ?? have;
    });
  }

  function keep(source: NewSource | FoundSource, digest: Digest): Kept {
    if ("found" in source) {
      const bytes = source.text ?? source.raw;
      const text = { path: source.found.text, digest: sha256Hex(bytes), bytes };
      return { source, digest, raw: { path: source.found.raw }, text };
    }
    const raw = placeOfRaw(folder, {
      names: rawNames(source, digest),
      bytes: source.raw,
      digest,
      known: (path, other) => isKnown("raw", "digest", path, other),
    });
    if (source.text === undefined) {
      if (!TEXT_KINDS.has(source.kind)) {
        throw new TypeError(`Cannot take in "${source.key}": a ${source.kind} needs its text`);
      }
      return { source, digest, raw, text: { path: raw.path, digest, bytes: source.raw } };
    }
    const textDigest = sha256Hex(source.text);
    const place = placeOfRaw(folder, {
      names: textNames(raw.path.slice("raw/".length), textDigest),
      bytes: source.text,
      digest: textDigest,
      // A text form without a source was left by a crash.
      known: (at, other) =>
        isKnown("text", "text_digest", at, other) ||
        db.get("SELECT 1 AS found FROM sources WHERE text = ?", at) === undefined,
    });
    return { source, digest, raw, text: { ...place, digest: textDigest, bytes: source.text } };
  }

  function isKnown(column: string, digests: string, path: string, digest: string): boolean {
    const sql = `SELECT 1 AS found FROM sources WHERE ${column} = ? AND ${digests} = ?`;
    return db.get(sql, path, digest) !== undefined;
  }

  /** Inserts a source's row and passages. Within a transaction. */
  function enter(kept: Kept, batch: Batch): number {
    const { source, digest, raw, text } = kept;
    const before = newest(source.key);
    const last = before === undefined ? 0 : int(before, "version");
    const version = versionOf(source) ?? last + 1;
    if (before !== undefined && version > last && int(before, "state") === 0) {
      retire(inside, before, "superseded", batch);
    }
    const state = version < last
      ? "superseded"
      : "found" in source
      ? source.found.state
      : "current";
    const trust: Trust = sourceTrust(source, recordedTrust(db, digest));
    spreadTrust(inside, digest, trust, { batch });
    if (text.digest !== digest) spreadTrust(inside, text.digest, trust, { batch });
    if (source.raw.length < TRIVIAL_BYTES) keepToWiki(db, digest);
    if (text.bytes.length < TRIVIAL_BYTES) keepToWiki(db, text.digest);
    const chunks = state === "current" ? source.chunks : [];
    const { numbering, rows } = batch.of(labelNumber(trust.label));
    const id = numbering.source();
    const first = numbering.chunks(chunks.length);
    batch.terms[numbering.label] = (batch.terms[numbering.label] ?? 0) +
      chunkRows(rows, id, first, chunks);
    db.insert(INSERT, [[
      id,
      source.key,
      version,
      digest,
      text.digest,
      source.kind,
      source.title,
      raw.path,
      text.path,
      source.raw.length,
      text.bytes.length,
      countLines(text.bytes),
      numbering.label,
      colourNumber(trust.colour),
      source.owner,
      JSON.stringify(source.provenance),
      SOURCE_STATES.indexOf(state),
      inside.now(),
      source.expiresAt ?? null,
      first,
      chunks.length,
    ]]);
    return id;
  }

  return Object.freeze<SourceIntake>({
    async addAll(sources) {
      const kept: (Kept | WikiSource)[] = [];
      for (const source of sources) checkSource(source);
      checkCatalogue(inside);
      for (const source of sources) {
        const digest = sha256Hex(source.raw);
        const have = same(source, digest);
        kept.push(have === undefined ? keep(source, digest) : renewed(have, source.expiresAt));
      }
      if (!kept.some((one) => "source" in one)) {
        followCatalogue(inside);
        return kept.map((one) => ({ source: one as WikiSource, did: "unchanged" }));
      }
      await writeRaw(
        folder,
        kept.flatMap((one) => "source" in one ? [one.raw, one.text] : []),
      );
      const taken = db.transaction("take in sources", () => {
        const batch = makeBatch(inside);
        const ids = kept.map((one): { readonly id: number; readonly did: TakenSource["did"] } => {
          if (!("source" in one)) return { id: one.id, did: "unchanged" };
          // Another process, or an earlier source of this batch, may have inserted it.
          const there = same(one.source, one.digest);
          if (there !== undefined) return { id: there.id, did: "unchanged" };
          const did = newest(one.source.key) === undefined ? "new" : "changed";
          return { id: enter(one, batch), did };
        });
        batch.write();
        changed(db, ids.some(({ did }) => did === "changed") ? "pages" : "sources");
        return ids.map(({ id, did }) => {
          const source = sourceById(db, id);
          if (source === undefined) throw new TypeError("Cannot take in sources: a row is missing");
          return { source, did };
        });
      });
      followCatalogue(inside);
      return taken;
    },
  });
}

function versionOf(source: NewSource | FoundSource): number | undefined {
  return "found" in source ? source.found.version : undefined;
}

function checkSource({ key, title, chunks, text, raw }: NewSource): void {
  const length = (text ?? raw).length;
  const bad = (why: string): Fault => new Fault("invalidInput", `Cannot take in a source: ${why}`);
  if (key === "" || key.length > 4_200) throw bad("its key is empty or too long");
  if (title.length > 512) throw bad("its title has more than 512 characters");
  if (!key.isWellFormed() || !title.isWellFormed()) {
    throw bad("its key or title is no Unicode text");
  }
  for (const { startByte, endByte, startLine, endLine } of chunks) {
    const inside = startByte >= 0 && startByte <= endByte && endByte <= length && startLine >= 1 &&
      startLine <= endLine;
    if (!inside) throw bad("one of its passages lies outside its text");
  }
}
