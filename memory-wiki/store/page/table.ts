/** Pages as the store has them. @module */
import { Fault, type PageName } from "../../../contracts/mod.ts";
import { changed, type Inside, labelNumber, trustOf } from "../inside.ts";
import { takeHandEdits } from "./hand_edits.ts";
import { markPage } from "./marks.ts";
import { PAGE_BYTES, pageFile, pageOf, pageRow, storedPage, versionText } from "./versions.ts";
import { int, maybeText, type Row, text } from "../sqlite/rows.ts";
import type { PageTable, PageVersion, StoredPage } from "../wiki_store.ts";

/** The table of one wiki. */
export function makePageTable(inside: Inside, trustedKeys: readonly string[]): PageTable {
  const { db, folder, text: { linkKey } } = inside;

  function get(name: string): StoredPage | undefined {
    const row = db.get("SELECT page, reading FROM pages WHERE name = ? AND deleted = 0", name);
    return row === undefined ? undefined : storedPage(row);
  }

  function find(target: string): StoredPage | undefined {
    const exact = get(target.normalize("NFC"));
    if (exact !== undefined) return exact;
    const key = linkKey(target);
    const row = get(key) ?? undefined;
    if (row !== undefined) return row;
    const named = db.get("SELECT page FROM page_names WHERE folded = ? ORDER BY page LIMIT 1", key);
    return named === undefined ? undefined : get(text(named, "page"));
  }

  function change(name: PageName, doing: string, f: (page: StoredPage) => object): void {
    db.transaction(doing, () => {
      const page = get(name);
      if (page === undefined) {
        throw new Fault("notFound", `Cannot ${doing}: there is no page "${name}"`);
      }
      const { claims: _, citations: __, links: ___, ...plain } = page;
      db.run(
        "UPDATE pages SET page = ? WHERE name = ?",
        JSON.stringify({ ...plain, ...f(page) }),
        name,
      );
      changed(db, "sources");
    });
  }

  return Object.freeze<PageTable>({
    get,
    find,
    list: ({ clearance, after = "", limit = -1 }) =>
      db.all(
        "SELECT page FROM pages WHERE deleted = 0 AND label <= ? AND name > ? ORDER BY name LIMIT ?",
        labelNumber(clearance),
        after,
        limit,
      ).map(pageOf),
    count(clearance) {
      const label = labelNumber(clearance);
      const row = db.get("SELECT count(*) AS n FROM pages WHERE deleted = 0 AND label <= ?", label);
      return int(row ?? {}, "n");
    },
    text(name, version) {
      if (version !== undefined) return versionText(inside, name, version);
      const row = pageRow(inside, name);
      return row === undefined || row.deleted
        ? undefined
        : versionText(inside, name, row.page.version);
    },
    onDisk(name) {
      const bytes = folder.read(pageFile(name), PAGE_BYTES);
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    },
    history: (name) =>
      db.all(
        "SELECT version, digest, author, at, patch, colour, label, deleted FROM page_versions WHERE name = ? " +
          "ORDER BY version",
        name,
      ).map(versionOf),
    backlinks(name) {
      const keys = db.all("SELECT folded FROM page_names WHERE page = ?", name);
      const pages = keys.filter((row) => find(text(row, "folded"))?.name === name).flatMap((row) =>
        db.all("SELECT page FROM links WHERE folded = ?", text(row, "folded"))
      );
      return [...new Set(pages.map((row) => text(row, "page") as PageName))]
        .filter((page) => page !== name).sort();
    },
    citing: (digest) =>
      db.all("SELECT page FROM citations WHERE digest = ? ORDER BY page", digest)
        .map((row) => text(row, "page") as PageName),
    sync: async () => await Promise.resolve(takeHandEdits(inside)),
    refresh: (name, at) => change(name, `refresh page "${name}"`, () => ({ freshAt: at })),
    review: (name, version, by) =>
      change(name, `review page "${name}"`, (page) => {
        if (page.version === version) return { reviewed: { by, at: inside.now() } };
        throw new Fault(
          "conflict",
          `Cannot review version ${version} of page "${name}": it is version ${page.version} now`,
        );
      }),
    mark: (mark) => markPage(inside, mark, trustedKeys),
  });
}

function versionOf(row: Row): PageVersion {
  const patch = maybeText(row, "patch");
  return Object.freeze({
    version: int(row, "version"),
    digest: text(row, "digest") as PageVersion["digest"],
    author: text(row, "author"),
    at: int(row, "at"),
    ...(patch === undefined ? {} : { patch: patch as NonNullable<PageVersion["patch"]> }),
    ...trustOf(row),
    deleted: int(row, "deleted") !== 0,
  });
}
