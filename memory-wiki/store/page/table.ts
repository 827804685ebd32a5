/** Pages in the database. Used by memory-wiki/store/open.ts. @module */
import { createPublicKey, verify } from "node:crypto";
import { Fault } from "../../../contracts/base/mod.ts";
import {
  type PageMark,
  PageMark as PageMarkSchema,
  pageMarkText,
  type PageName,
} from "../../../contracts/memory/mod.ts";
import { changed, colourNumber, type Inside, labelNumber, trustOf } from "../inside.ts";
import { settle } from "../settle.ts";
import { int, maybeText, type Row, text } from "../sqlite/database.ts";
import { markedTrust } from "../trust_rules.ts";
import { appendEvent } from "../wiki_log.ts";
import type { PageTable, PageVersion, StoredPage } from "../wiki_store.ts";
import { takeHandEdits } from "./hand_edits.ts";
import { PAGE_BYTES, pageFile, pageOf, pageRow, storedPage, versionText } from "./versions.ts";

/** Makes the table of one wiki. */
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

/**
 * Verifies a mark and applies its colour and label to the page for as long as its bytes stay the same.
 * @throws Fault `refused` for an untrusted key, an invalid signature or other bytes; `notFound`
 */
function markPage(inside: Inside, mark: PageMark, trustedKeys: readonly string[]): void {
  const { db } = inside;
  const parsed = PageMarkSchema.safeParse(mark);
  if (!parsed.success) throw refusal(String(mark.page), "it is no mark");
  const { key, signature, ...signed } = parsed.data;
  if (!trustedKeys.includes(key)) throw refusal(signed.page, "its key is not trusted");
  if (!holds(pageMarkText(signed), key, signature)) {
    throw refusal(signed.page, "its signature is wrong");
  }
  db.transaction(`mark page "${signed.page}"`, () => {
    const row = pageRow(inside, signed.page);
    if (row === undefined || row.deleted) {
      throw new Fault("notFound", `Cannot mark page "${signed.page}": there is none`);
    }
    if (row.page.digest !== signed.digest) {
      throw refusal(signed.page, "it was signed for other bytes than the page has now");
    }
    const trust = markedTrust(signed);
    const page = { ...row.page, ...trust };
    const [colour, label] = [colourNumber(trust.colour), labelNumber(trust.label)];
    db.run(
      "UPDATE pages SET page = ?, label = ? WHERE name = ?",
      JSON.stringify(page),
      label,
      page.name,
    );
    db.run(
      "UPDATE page_versions SET colour = ?, label = ? WHERE name = ? AND version = ?",
      colour,
      label,
      page.name,
      page.version,
    );
    // The signature covers these bytes wherever they occur.
    db.run(
      "UPDATE digests SET colour = ?, label = ?, told = 2 WHERE digest = ?",
      colour,
      label,
      page.digest,
    );
    db.run(
      "INSERT OR REPLACE INTO marks(page, digest, mark) VALUES(?, ?, ?)",
      page.name,
      page.digest,
      JSON.stringify(parsed.data),
    );
    appendEvent(inside, {
      kind: label < labelNumber(row.page.label) ? "redact" : "sanitize",
      by: signed.by,
      text:
        `${page.name} version ${page.version} is ${trust.colour} and ${trust.label} by a signed mark`,
    });
    changed(db, "pages");
  });
  settle(inside);
}

function refusal(page: string, why: string): Fault {
  return new Fault("refused", `Cannot mark page "${page}": ${why}`);
}

function holds(text: string, key: string, signature: string): boolean {
  try {
    const made = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: key }, format: "jwk" });
    const bytes = Uint8Array.fromBase64(signature, { alphabet: "base64url" });
    return bytes.length === 64 && verify(null, new TextEncoder().encode(text), made, bytes);
  } catch (error) {
    // Not a point of the curve, or not base64url.
    if (!(error instanceof Error)) throw error;
    return false;
  }
}
