/**
 * Makes the wiki's files match the database: pages of an applied patch, then their renderings index.md and
 * log.md. Any process completes the work that another left; the database's write lock serialises it.
 * @module
 */
import { Fault } from "../../contracts/base/mod.ts";
import type { IndexRow } from "../../contracts/wire/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { catalogueLags, checkCatalogue, writeCatalogue } from "./catalogue/catalogue.ts";
import { digestOfFile } from "./files/raw_keep.ts";
import { type Inside, meta, setMeta } from "./inside.ts";
import { pageFile, pageOf, versionText } from "./page/versions.ts";
import { int, maybeText, text } from "./sqlite/database.ts";
import { LOG_FILE, logPictureLags, writeLogPicture } from "./wiki_log.ts";

/** File name of the catalogue. */
const INDEX_FILE = "index.md";
const encoder = new TextEncoder();

/** A page's file to write or remove after the commit. */
export interface PendingFile {
  readonly name: string;
  readonly version: number;
  /** Digest of the new file; undefined: remove it. */
  readonly digest?: string;
  /** Digest of the previous file; undefined: none. */
  readonly before?: string;
  /** Path of the new bytes, if written already. */
  readonly staged?: string;
}

/** Records work for {@link settlePages}. Within a transaction. */
export function putPending({ db }: Inside, file: PendingFile): void {
  db.run(
    "INSERT OR REPLACE INTO pending(name, version, digest, before, staged) VALUES(?,?,?,?,?)",
    file.name,
    file.version,
    file.digest ?? null,
    file.before ?? null,
    file.staged ?? null,
  );
}

/** Throws `refused` if a rendering must not be written. */
export function checkPictures(inside: Inside): void {
  const { folder } = inside;
  checkCatalogue(inside);
  for (const file of [INDEX_FILE, LOG_FILE]) {
    if ((folder.expect(file)?.names ?? 1) === 1) continue;
    throw new Fault("refused", `Cannot use "${file}": the file has another name elsewhere`);
  }
}

/** Writes pending page files; returns a sentence for each. */
export function settlePages(inside: Inside): readonly string[] {
  const { db, folder } = inside;
  if (db.get("SELECT 1 AS found FROM pending LIMIT 1") === undefined) return [];
  return db.transaction("finish writing pages", () => {
    const done: string[] = [];
    for (const row of db.all("SELECT * FROM pending ORDER BY name")) {
      const told = settlePage(inside, {
        name: text(row, "name"),
        version: int(row, "version"),
        ...optional("digest", maybeText(row, "digest")),
        ...optional("before", maybeText(row, "before")),
        ...optional("staged", maybeText(row, "staged")),
      });
      done.push(told);
    }
    folder.syncFolder("pages");
    db.run("DELETE FROM pending");
    return done;
  });
}

function optional<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: string };
}

function settlePage(inside: Inside, pending: PendingFile): string {
  const { folder } = inside;
  const { name, version, digest, before } = pending;
  const path = pageFile(name);
  // Before its bytes are read, so that a later save is detected.
  const seen = folder.expect(path);
  const found = digestOfFile(folder, path);
  if (found === digest) return drop(inside, pending.staged, `page "${name}" was there already`);
  const byHand = `page "${name}" was changed by hand before version ${version} was there`;
  if (found !== before) return drop(inside, pending.staged, byHand);
  const staged = staging(inside, pending);
  if (!folder.supersede(path, seen, staged)) return drop(inside, staged, byHand);
  return digest === undefined
    ? `page "${name}" was removed`
    : `page "${name}" was brought to version ${version}`;
}

/** Path of a page's new bytes; undefined for a removal. */
function staging(inside: Inside, pending: PendingFile): string | undefined {
  const { folder } = inside;
  const { name, version, digest, staged } = pending;
  if (digest === undefined) return undefined;
  if (staged !== undefined && digestOfFile(folder, staged) === digest) return staged;
  const whole = versionText(inside, name, version);
  if (whole === undefined) {
    throw new Fault("storeCorrupt", `Cannot finish page "${name}": version ${version} is gone`);
  }
  return folder.stage(pageFile(name), encoder.encode(whole));
}

function drop({ folder }: Inside, staged: string | undefined, told: string): string {
  if (staged !== undefined && folder.look(staged) !== undefined) folder.remove(staged);
  return told;
}

/** Updates index.md, log.md and the catalogue of sources; returns the repairs. */
export function settlePictures(inside: Inside): readonly string[] {
  const { db } = inside;
  if (!indexLags(inside) && !logPictureLags(inside) && !catalogueLags(inside)) return [];
  return db.transaction("write index.md and log.md", () => {
    if (indexLags(inside)) writeIndex(inside);
    const sources = catalogueLags(inside) ? writeCatalogue(inside) : undefined;
    return [writeLogPicture(inside), sources].filter((told) => told !== undefined);
  });
}

/** Whether index.md is outdated, judged by its size. */
function indexLags({ db, folder }: Inside): boolean {
  return meta(db, "pages") !== meta(db, "indexed") ||
    folder.look(INDEX_FILE)?.bytes !== meta(db, "indexBytes");
}

/** Writes index.md if it differs. Within a transaction. */
function writeIndex(inside: Inside): void {
  const { db, folder, text: { renderIndex } } = inside;
  const stale = new Set(
    db.all(
      "SELECT DISTINCT page FROM citations c WHERE NOT EXISTS " +
        "(SELECT 1 FROM sources s WHERE s.digest = c.digest AND s.state = 0)",
    ).map((row) => text(row, "page")),
  );
  const rows = db.all("SELECT page, about FROM pages WHERE deleted = 0 ORDER BY name").map(
    (row): IndexRow => {
      const { name, title, kind, colour, label } = pageOf(row);
      return {
        name,
        title,
        kind,
        about: text(row, "about"),
        colour,
        label,
        stale: stale.has(name),
      };
    },
  );
  const bytes = encoder.encode(renderIndex(rows));
  if (digestOfFile(folder, INDEX_FILE) !== sha256Hex(bytes)) {
    // Staged in pages/, where files left by a crash are removed.
    folder.place(folder.stage("pages/index", bytes), INDEX_FILE);
  }
  setMeta(db, "indexed", meta(db, "pages"));
  setMeta(db, "indexBytes", bytes.length);
}

/** Writes pending pages, then renderings. A rendering that cannot be written now follows with the next change. */
export function settle(inside: Inside): readonly string[] {
  const pages = settlePages(inside);
  try {
    return [...pages, ...settlePictures(inside)];
  } catch (error) {
    if (error instanceof Fault && (error.code === "storeFull" || error.code === "conflict")) {
      return pages;
    }
    throw error;
  }
}
