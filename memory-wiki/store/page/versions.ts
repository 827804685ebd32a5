/** Versions of pages in the database: reading, and writing within a transaction. @module */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { Fault } from "../../../contracts/base/mod.ts";
import {
  type Page,
  Page as PageSchema,
  type PageName,
  type PatchName,
} from "../../../contracts/memory/mod.ts";
import type { ReadPage } from "../../markdown/page_text.ts";
import { changed, colourNumber, type Inside, labelNumber, recordTrust } from "../inside.ts";
import { bytes, int, json, type Row, text } from "../sqlite/database.ts";
import type { StoredPage } from "../wiki_store.ts";
import type { LookedUp } from "./citations.ts";

/** Bytes of a page's file. */
export const PAGE_BYTES = 1_048_576;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A parsed row of the table `pages`. */
export interface PageRow {
  readonly page: Page;
  readonly deleted: boolean;
  readonly fileMark: string;
}

/** `pages/NAME.md` */
export function pageFile(name: string): string {
  return `pages/${name}.md`;
}

/** A page's row, including deleted pages. */
export function pageRow({ db }: Inside, name: string): PageRow | undefined {
  const row = db.get("SELECT page, deleted, file_mark FROM pages WHERE name = ?", name);
  return row === undefined ? undefined : rowOf(row);
}

/** Parses the columns `page`, `deleted` and `file_mark`. */
function rowOf(row: Row): PageRow {
  return {
    page: pageOf(row),
    deleted: int(row, "deleted") !== 0,
    fileMark: text(row, "file_mark"),
  };
}

/** Parses the column `page`. */
export function pageOf(row: Row): Page {
  return Object.freeze(json(row, "page") as Page);
}

/** A page with its parsed file. */
export function storedPage(row: Row): StoredPage {
  const reading = json(row, "reading") as Pick<StoredPage, "claims" | "citations" | "links">;
  return Object.freeze({ ...pageOf(row), ...reading });
}

/** The text of a version; undefined if there is none. @throws Fault `storeCorrupt` */
export function versionText({ db }: Inside, name: string, version: number): string | undefined {
  const row = db.get(
    "SELECT text FROM page_versions WHERE name = ? AND version = ? AND deleted = 0",
    name,
    version,
  );
  if (row === undefined) return undefined;
  try {
    return decoder.decode(inflateRawSync(bytes(row, "text"), { maxOutputLength: 4 * PAGE_BYTES }));
  } catch (error) {
    throw new Fault(
      "storeCorrupt",
      `Cannot read version ${version} of page "${name}": it is damaged`,
      {
        cause: error,
      },
    );
  }
}

/** A version to write. */
export interface NewVersion {
  readonly page: Page;
  readonly text: string;
  readonly reading: ReadPage;
  readonly found: LookedUp;
  readonly patch?: PatchName;
  readonly fileMark: string;
}

/** Writes a version and makes it the current one. Within a transaction. */
export function putVersion(inside: Inside, version: NewVersion): void {
  const { db, text: { aboutOf, linkKey } } = inside;
  const { page, reading, found } = version;
  const { name } = page;
  // Refuses a page that could not be read back.
  PageSchema.parse(page);
  recordTrust(db, page.digest, page, "made");
  const deflated = deflateRawSync(encoder.encode(version.text), { level: 3 });
  putHistory(inside, page, { deleted: false, text: deflated, patch: version.patch });
  const { claims, links } = reading;
  db.run(
    "INSERT INTO pages(name, version, deleted, label, page, about, reading, file_mark) VALUES(?,?,0,?,?,?,?,?) " +
      "ON CONFLICT(name) DO UPDATE SET version=excluded.version, deleted=0, label=excluded.label, " +
      "page=excluded.page, about=excluded.about, reading=excluded.reading, file_mark=excluded.file_mark",
    name,
    page.version,
    labelNumber(page.label),
    JSON.stringify(page),
    aboutOf(reading.body),
    JSON.stringify({ claims, citations: found.citations, links }),
    version.fileMark,
  );
  dropReading(inside, name);
  const names = new Set([name, page.title, ...page.aliases].map(linkKey));
  const targets = new Set(links.map(({ target }) => linkKey(target)));
  db.insert("INSERT INTO page_names(folded, page) VALUES", [...names].map((one) => [one, name]));
  db.insert("INSERT INTO links(page, folded) VALUES", [...targets].map((one) => [name, one]));
  db.insert("INSERT INTO citations(page, digest) VALUES", found.sources.map((one) => [name, one]));
  changed(db, "pages");
}

/** Deletes a page by a final version. Within a transaction. */
export function deleteVersion(
  inside: Inside,
  page: Page,
  by: { readonly author: string; readonly at: number; readonly patch?: PatchName },
): void {
  const { db } = inside;
  const last = { ...page, version: page.version + 1, author: by.author, updatedAt: by.at };
  putHistory(inside, last, { deleted: true, text: new Uint8Array(0), patch: by.patch });
  db.run(
    "UPDATE pages SET version = ?, deleted = 1, page = ?, file_mark = '' WHERE name = ?",
    last.version,
    JSON.stringify(last),
    page.name,
  );
  dropReading(inside, page.name);
  changed(db, "pages");
}

function putHistory(
  { db }: Inside,
  page: Page,
  more: {
    readonly deleted: boolean;
    readonly text: Uint8Array;
    readonly patch: PatchName | undefined;
  },
): void {
  db.insert(
    "INSERT INTO page_versions(name, version, digest, author, at, patch, colour, label, deleted, text) VALUES",
    [[
      page.name,
      page.version,
      page.digest,
      page.author,
      page.updatedAt,
      more.patch ?? null,
      colourNumber(page.colour),
      labelNumber(page.label),
      more.deleted ? 1 : 0,
      more.text,
    ]],
  );
}

function dropReading({ db }: Inside, name: PageName): void {
  for (const table of ["page_names", "links", "citations"]) {
    db.run(`DELETE FROM ${table} WHERE page = ?`, name);
  }
}
