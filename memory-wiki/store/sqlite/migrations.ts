/**
 * The schema of wiki.db as numbered migrations. Released migrations are never changed, only added.
 *
 * Sources and chunks have separate ids per label (`id = 3 * n + label`), so that hidden ones do not shift
 * visible ids. The text of chunks is read from raw/. Used by memory-wiki/store/store_powers.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/mod.ts";

/** A migration, applied in a transaction of its own. */
export interface Migration {
  /** From 1, without gaps. */
  readonly version: number;
  /** SQL statements, separated by `;`. */
  readonly sql: string;
}

const PUNCTUATION = `!"#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~`.replaceAll('"', '""');

/** Contentless: index only. Terms are prepared, so tokens end at spaces only. */
function chunkIndex(label: string): string {
  return `
CREATE VIRTUAL TABLE chunks_${label} USING fts5(terms, heading, content='', contentless_delete=1,
  tokenize="ascii tokenchars '${PUNCTUATION}'");
INSERT INTO chunks_${label}(chunks_${label}, rank) VALUES('rank', 'bm25(1.0, 2.0)');
CREATE VIRTUAL TABLE terms_${label} USING fts5vocab(chunks_${label}, 'row');`;
}

/** Records every change of a source's row. */
function sourceEvent(when: string): string {
  return `CREATE TRIGGER ${when} BEGIN
  INSERT INTO source_events(source, state, label, colour, expires_at)
    VALUES(new.id, new.state, new.label, new.colour, new.expires_at);
END;`;
}

/** All migrations, oldest first. */
const WIKI_MIGRATIONS: readonly Migration[] = Object.freeze([
  Object.freeze({
    version: 1,
    sql: `
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO meta(name, value) VALUES('generation', 1), ('pages', 1), ('indexed', 0), ('logged', 0), ('logBytes', 0), ('adopted', 0), ('indexBytes', -1);
CREATE TABLE labels(
  label INTEGER PRIMARY KEY, next_source INTEGER NOT NULL, next_chunk INTEGER NOT NULL,
  chunks INTEGER NOT NULL, terms INTEGER NOT NULL
) STRICT;
INSERT INTO labels VALUES(0, 1, 1, 0, 0), (1, 1, 1, 0, 0), (2, 1, 1, 0, 0);
CREATE TABLE sources(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, version INTEGER NOT NULL, digest TEXT NOT NULL,
  text_digest TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, raw TEXT NOT NULL, text TEXT NOT NULL,
  bytes INTEGER NOT NULL, text_bytes INTEGER NOT NULL, lines INTEGER NOT NULL, label INTEGER NOT NULL,
  colour INTEGER NOT NULL, owner TEXT NOT NULL, provenance TEXT NOT NULL, state INTEGER NOT NULL,
  ingested_at INTEGER NOT NULL, expires_at INTEGER, first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sources_version ON sources(key, version);
CREATE INDEX sources_digest ON sources(digest);
CREATE INDEX sources_raw ON sources(raw);
CREATE INDEX sources_text ON sources(text);
CREATE INDEX sources_expiry ON sources(expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL, terms INTEGER NOT NULL, heading TEXT NOT NULL
) STRICT;
${["public", "internal", "secret"].map(chunkIndex).join("")}
CREATE TABLE digests(digest TEXT PRIMARY KEY, colour INTEGER NOT NULL, label INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pages(
  name TEXT PRIMARY KEY, version INTEGER NOT NULL, deleted INTEGER NOT NULL, label INTEGER NOT NULL,
  page TEXT NOT NULL, about TEXT NOT NULL, reading TEXT NOT NULL, file_mark TEXT NOT NULL
) STRICT;
CREATE TABLE page_versions(
  name TEXT NOT NULL, version INTEGER NOT NULL, digest TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL,
  patch TEXT, colour INTEGER NOT NULL, label INTEGER NOT NULL, deleted INTEGER NOT NULL, text BLOB NOT NULL,
  PRIMARY KEY(name, version)
) STRICT;
CREATE TABLE page_names(folded TEXT NOT NULL, page TEXT NOT NULL, PRIMARY KEY(folded, page)) STRICT, WITHOUT ROWID;
CREATE INDEX page_names_page ON page_names(page);
CREATE TABLE links(page TEXT NOT NULL, folded TEXT NOT NULL, PRIMARY KEY(page, folded)) STRICT, WITHOUT ROWID;
CREATE INDEX links_folded ON links(folded);
CREATE TABLE citations(page TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY(page, digest)) STRICT, WITHOUT ROWID;
CREATE INDEX citations_digest ON citations(digest);
CREATE TABLE patches(
  id TEXT PRIMARY KEY, author TEXT NOT NULL, reason TEXT NOT NULL, changes BLOB NOT NULL, colour INTEGER NOT NULL,
  label INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, decided TEXT, conflicts TEXT
) STRICT;
CREATE INDEX patches_state ON patches(state, created_at);
CREATE TABLE pending(
  name TEXT PRIMARY KEY, version INTEGER NOT NULL, digest TEXT, before TEXT, staged TEXT
) STRICT;
CREATE TABLE leases(page TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT;
CREATE TABLE notes(
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, task TEXT NOT NULL, agent TEXT NOT NULL,
  colour INTEGER NOT NULL, label INTEGER NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL, expires_at INTEGER
) STRICT;
CREATE INDEX notes_at ON notes(at);
CREATE TABLE log(n INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, by TEXT NOT NULL,
  text TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TABLE embedders(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL) STRICT;
CREATE TABLE chunk_vectors(chunk INTEGER NOT NULL, embedder INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX chunk_vectors_chunk ON chunk_vectors(chunk, embedder);
CREATE TABLE other_vectors(key TEXT NOT NULL, embedder INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX other_vectors_key ON other_vectors(key, embedder);
CREATE TABLE documents(name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE marks(page TEXT NOT NULL, digest TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY(page, digest)) STRICT;
`,
  }),
  Object.freeze({
    version: 2,
    sql: `
CREATE TABLE source_events(
  n INTEGER PRIMARY KEY, source INTEGER NOT NULL, state INTEGER NOT NULL, label INTEGER NOT NULL,
  colour INTEGER NOT NULL, expires_at INTEGER
) STRICT;
INSERT INTO source_events(source, state, label, colour, expires_at)
  SELECT id, state, label, colour, expires_at FROM sources ORDER BY ingested_at, id;
${sourceEvent("source_taken AFTER INSERT ON sources")}
${
      sourceEvent(
        "source_changed AFTER UPDATE OF state, label, colour, expires_at ON sources WHEN " +
          "old.state IS NOT new.state OR old.label IS NOT new.label OR old.colour IS NOT new.colour " +
          "OR old.expires_at IS NOT new.expires_at",
      )
    }
CREATE TRIGGER source_events_no_update BEFORE UPDATE ON source_events BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER source_events_no_delete BEFORE DELETE ON source_events BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE INDEX sources_text_digest ON sources(text_digest) WHERE text_digest <> digest;
CREATE TABLE pictures(name TEXT PRIMARY KEY, n INTEGER NOT NULL, mark TEXT NOT NULL) STRICT;
INSERT INTO pictures(name, n, mark) VALUES('sources', 0, '');
`,
  }),
  Object.freeze({
    version: 3,
    // 0: to be reported to the state; 1: nothing to report; 2: signed by a person, to be reported.
    sql: `
ALTER TABLE digests ADD COLUMN told INTEGER NOT NULL DEFAULT 1;
UPDATE digests SET told = 0 WHERE colour = 2 OR label = 2;
CREATE INDEX digests_untold ON digests(told) WHERE told <> 1;
`,
  }),
]);

/**
 * The pending migrations of a database at version `current` (0: empty), oldest first.
 * @throws Fault `unavailable` for a database newer than this list
 */
export function pendingMigrations(
  current: number,
  list: readonly Migration[] = WIKI_MIGRATIONS,
): readonly Migration[] {
  const latest = list.at(-1)?.version ?? 0;
  if (current > latest) {
    throw new Fault(
      "unavailable",
      `Cannot open wiki: its schema is version ${current}, this Remit knows ${latest}; use a newer Remit`,
    );
  }
  return list.filter((step) => step.version > current);
}
