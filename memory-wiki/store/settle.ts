/**
 * Makes the wiki's files what the database says: pages that a patch has written, then index.md and log.md, their
 * pictures. Whoever comes next does what another process left undone; the database's write lock puts all in order.
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

/** The catalogue's name. */
const INDEX_FILE = "index.md";
const encoder = new TextEncoder();

/** A page's file that is to be written or removed once the transaction stands. */
export interface PendingFile {
  readonly name: string;
  readonly version: number;
  /** Of the file as it shall be; undefined: it shall go. */
  readonly digest?: string;
  /** Of the file as it was; undefined: there was none. */
  readonly before?: string;
  /** Where the new bytes lie already. */
  readonly staged?: string;
}

/** Notes what {@link settlePages} has to do. Within a transaction. */
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

/** Throws `refused` when a picture is something that must not be written. */
export function checkPictures(inside: Inside): void {
  const { folder } = inside;
  checkCatalogue(inside);
  for (const file of [INDEX_FILE, LOG_FILE]) {
    if ((folder.expect(file)?.names ?? 1) === 1) continue;
    throw new Fault("refused", `Cannot use "${file}": the file has another name elsewhere`);
  }
}

/** Finishes pending page files; gives a sentence for each that was not there yet. */
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
  // Before its bytes are read: whatever is saved from here on is seen to be another file.
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

/** Where the new bytes of a page lie; undefined where it shall go. */
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

/** Brings index.md, log.md and the catalogue of sources up to the database; gives what was repaired. */
export function settlePictures(inside: Inside): readonly string[] {
  const { db } = inside;
  if (!indexLags(inside) && !logPictureLags(inside) && !catalogueLags(inside)) return [];
  return db.transaction("write index.md and log.md", () => {
    if (indexLags(inside)) writeIndex(inside);
    const sources = catalogueLags(inside) ? writeCatalogue(inside) : undefined;
    return [writeLogPicture(inside), sources].filter((told) => told !== undefined);
  });
}

/** Whether index.md is not the catalogue of the pages, as far as its size tells. */
function indexLags({ db, folder }: Inside): boolean {
  return meta(db, "pages") !== meta(db, "indexed") ||
    folder.look(INDEX_FILE)?.bytes !== meta(db, "indexBytes");
}

/** Writes index.md where it is not what it should be. Within a transaction. */
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
    // Beside the pages, where what a crash leaves is cleared away.
    folder.place(folder.stage("pages/index", bytes), INDEX_FILE);
  }
  setMeta(db, "indexed", meta(db, "pages"));
  setMeta(db, "indexBytes", bytes.length);
}

/** Pages that must be there, then their pictures. A picture that cannot be written now follows with the next change. */
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
