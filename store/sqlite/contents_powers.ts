/**
 * Labels of contents in a state folder, by digest, one row each. The kernel and the commands over
 * wikis use the file at the same time. docs/decision/0038.
 * @module
 */
import { chmodSync, existsSync, renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Colour, Label } from "../../contracts/authority/colour.ts";
import {
  type ContentColours,
  type ContentTrust,
  type KnownContent,
  type SanitizedKind,
  TRIVIAL_BYTES,
} from "../../contracts/memory/content_trust.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { sha256Hex } from "../../port/digest.ts";
import { openEngine, prepareFiles } from "./_engine_powers.ts";
import { damagedRow } from "../_rows.ts";
import { withFaults } from "./_faults.ts";

/** "Rcnt": marks the file as Remit's in its header. */
const APPLICATION_ID = 0x52636e74;
/** Milliseconds to wait for another process's lock. */
const BUSY_MS = 2_000;
const SCHEMA =
  "CREATE TABLE IF NOT EXISTS contents(digest BLOB PRIMARY KEY, colour INTEGER NOT NULL, " +
  "label INTEGER NOT NULL, sanitized INTEGER) WITHOUT ROWID;" +
  `PRAGMA application_id=${APPLICATION_ID};`;
const UPSERT = "INSERT INTO contents(digest, colour, label, sanitized) VALUES(?,?,?,?) " +
  "ON CONFLICT(digest) DO UPDATE SET colour=max(colour, excluded.colour), " +
  "label=max(label, excluded.label), " +
  "sanitized=min(coalesce(sanitized, excluded.sanitized), coalesce(excluded.sanitized, sanitized))";
const SIGNED = "INSERT INTO contents(digest, colour, label, sanitized) VALUES(?,?,?,NULL) " +
  "ON CONFLICT(digest) DO UPDATE SET colour=excluded.colour, label=excluded.label, sanitized=NULL";

const COLOURS = Colour.options;
const LABELS = Label.options;

/** Labels of contents, and whether an earlier version's records elsewhere were copied. */
interface ContentStore extends ContentTrust {
  /** False before the first call of {@link ContentStore.completed} for this file. */
  complete(): boolean;
  completed(): void;
}

/**
 * Opens the file at `path`, or creates it.
 * @throws Fault `storeCorrupt`, `storeFull`, `conflict`, `refused`
 */
export function openContentStore(path: string): ContentStore {
  const doing = `open what is known of contents, "${path}"`;
  return withFaults(doing, "write", () => {
    prepareFiles(path);
    const db = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      return overDatabase(db, path);
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

function overDatabase(db: DatabaseSync, path: string): ContentStore {
  db.exec(
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA trusted_schema=OFF; " +
      "PRAGMA cell_size_check=ON; PRAGMA cache_size=-1000",
  );
  db.exec(SCHEMA);
  for (const beside of ["-wal", "-shm"]) chmodSync(path + beside, 0o600);
  const find = db.prepare("SELECT colour, label, sanitized FROM contents WHERE digest = ?");
  const put = db.prepare(UPSERT);
  const sign = db.prepare(SIGNED);
  const unsign = db.prepare("UPDATE contents SET sanitized = NULL WHERE digest = ?");

  const look = (digest: string): Record<string, unknown> | undefined =>
    withFaults("look a content up", "read", () => find.get(keyOf(digest)));

  /** True where the record is present: then nothing is written. */
  const isKnown = ({ digest, colour, label, sanitized }: KnownContent): boolean => {
    if (sanitized === undefined && colour === "BLUE" && label === "public") return true;
    const row = look(digest);
    if (row === undefined) return false;
    const [had, lab, clean] = [row["colour"], row["label"], row["sanitized"]];
    return Number(had) >= COLOURS.indexOf(colour) && Number(lab) >= LABELS.indexOf(label) &&
      (sanitized === undefined ||
        (typeof clean === "number" && clean <= COLOURS.indexOf(sanitized)));
  };

  const signedAs = (kind: SanitizedKind, digest: string): unknown =>
    look(signedKey(kind, digest))?.["sanitized"];
  const record = (contents: readonly KnownContent[]): void => {
    const news = contents.filter((each) => each.bytes >= TRIVIAL_BYTES && !isKnown(each));
    if (news.length === 0) return;
    inTransaction(db, () => {
      for (const { digest, colour, label, sanitized } of news) {
        put.run(
          keyOf(digest),
          COLOURS.indexOf(colour),
          LABELS.indexOf(label),
          sanitized === undefined ? null : COLOURS.indexOf(sanitized),
        );
      }
    });
  };

  return Object.freeze<ContentStore>({
    of(digests) {
      let [colour, label] = [0, 0];
      for (const digest of digests) {
        const row = look(digest);
        if (row === undefined) continue;
        const own = Number(row["colour"]);
        const clean = [row["sanitized"], own > 0 ? signedAs("file", digest) : undefined]
          .filter((each) => typeof each === "number");
        colour = Math.max(colour, Math.min(own, ...clean));
        label = Math.max(label, Number(row["label"]));
      }
      return coloursOf(colour, label);
    },
    record,
    signed(kind, digest) {
      const found = signedAs(kind, digest);
      return typeof found === "number" ? COLOURS[found] : undefined;
    },
    sanitize({ kind, digest, bytes, from, to: sanitized }) {
      record([{ digest: signedKey(kind, digest), bytes, ...from, sanitized }]);
    },
    mark(digest, { colour, label }) {
      inTransaction(db, () => {
        sign.run(keyOf(digest), COLOURS.indexOf(colour), LABELS.indexOf(label));
        unsign.run(keyOf(signedKey("file", digest)));
      });
    },
    complete: () => Number(db.prepare("PRAGMA user_version").get()?.["user_version"]) > 0,
    completed: () => db.exec("PRAGMA user_version=1"),
    close: () => db.close(),
  });
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  withFaults("record what contents carry", "write", () => {
    db.exec("BEGIN IMMEDIATE");
    try {
      work();
      db.exec("COMMIT");
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  });
}

/** INVARIANT: a signature for one kind of item is not valid for another (test: "… a file's mark lifts no result"). */
function signedKey(kind: string, digest: string): string {
  return sha256Hex(`signed ${kind} ${digest}`);
}

function keyOf(digest: string): Uint8Array {
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw new TypeError("Cannot look a content up: its name is no SHA-256");
  }
  return Uint8Array.fromHex(digest);
}

function coloursOf(colour: number, label: number): ContentColours {
  const found = { colour: COLOURS[colour], label: LABELS[label] };
  if (found.colour === undefined || found.label === undefined) throw damagedRow("a content");
  return { colour: found.colour, label: found.label };
}

/** Suffixes of the database's files. */
const PARTS = ["", "-wal", "-shm"] as const;
const MAX_FINDINGS = 100;

/**
 * Findings of SQLite's structure check, up to 100 lines; empty for a sound file. The check finds damage that no hash covers:
 * in indexes and free pages. Throws `storeCorrupt` where the file cannot be opened.
 */
export function checkSqliteFile(path: string): readonly string[] {
  const db = openEngine({ path, readOnly: true });
  try {
    return withFaults(`check store "${path}"`, "read", () => {
      const rows = db.prepare(`PRAGMA integrity_check(${MAX_FINDINGS})`).all();
      return rows.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
    });
  } finally {
    db.close();
  }
}

/**
 * Replaces the database `path` by `fresh` and keeps the old one as `keepAs`. Both must be closed.
 * @throws Fault `alreadyExists` where `keepAs` exists.
 */
export function replaceSqliteFile(
  path: string,
  { fresh, keepAs }: { readonly fresh: string; readonly keepAs: string },
): void {
  if (PARTS.some((part) => existsSync(keepAs + part))) {
    throw new Fault("alreadyExists", `Cannot keep the old store as "${keepAs}": it exists`);
  }
  for (const part of PARTS) if (existsSync(path + part)) renameSync(path + part, keepAs + part);
  for (const part of PARTS) if (existsSync(fresh + part)) renameSync(fresh + part, path + part);
}
