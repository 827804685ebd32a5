/** What the store's tables share, and the encoding of colours and labels in the database. @module */
import { Colour, Digest, Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { Page, SourceKind } from "../../contracts/memory/mod.ts";
import type { IndexRow, WikiContents } from "../../contracts/wire/mod.ts";
import type { ReadPage } from "../markdown/page_text.ts";
import type { TextLines } from "./files/text_lines.ts";
import type { WikiFiles, WikiFolder } from "./files/wiki_folder.ts";
import { type Database, int, type Row, text } from "./sqlite/database.ts";
import type { EngineOptions } from "./store_powers.ts";
import type { Trust } from "./trust_rules.ts";
import type { NewChunk } from "./wiki_store.ts";

/** Powers of the store; implemented in store_powers.ts. */
export interface StorePowers {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A new id: the prefix and 12 characters of 0-9 and a-z. */
  readonly id: (prefix: string) => string;
  readonly files: WikiFiles;
  readonly openDatabase: (options: EngineOptions) => Database;
  readonly hasDatabase: (path: string) => boolean;
}

/** Parsing and writing of pages, from memory-wiki/markdown. */
export interface PageText {
  /** Never throws. */
  readonly readPage: (text: string) => ReadPage;
  readonly writePage: (page: Page, body: string, others?: readonly string[]) => string;
  readonly renderIndex: (rows: readonly IndexRow[]) => string;
  /** The first sentence of a body, at most 160 characters. */
  readonly aboutOf: (body: string) => string;
  /** The common key of a link target and its page. */
  readonly linkKey: (target: string) => string;
}

/** Makes passages of a raw file whose state is lost or whose label changes. */
export type Chunker = (
  text: Uint8Array,
  kind: SourceKind,
  name: string,
) => { readonly title: string; readonly chunks: readonly NewChunk[] };

/** Shared by all tables. */
export interface Inside {
  readonly db: Database;
  readonly folder: WikiFolder;
  readonly lines: TextLines;
  readonly text: PageText;
  /** For a source whose passages are not at hand. */
  readonly chunk: Chunker | undefined;
  readonly now: () => number;
  readonly id: (prefix: string) => string;
}

const COLOURS = Colour.options;
const LABELS = Label.options;

/** Number of a colour; 0 is the most trusted. */
export function colourNumber(colour: Colour): number {
  return COLOURS.indexOf(colour);
}

/** Number of a label; 0 is `public`. */
export function labelNumber(label: Label): number {
  return LABELS.indexOf(label);
}

/** Labels within a clearance, lowest first. */
export function labelsUpTo(clearance: Label): readonly Label[] {
  return LABELS.slice(0, labelNumber(clearance) + 1);
}

/** Parses the columns `colour` and `label`. @throws Fault `storeCorrupt` */
export function trustOf(row: Row): Trust {
  const [colour, label] = [COLOURS[int(row, "colour")], LABELS[int(row, "label")]];
  if (colour === undefined || label === undefined) {
    throw new Fault("storeCorrupt", "Cannot read the wiki's database: an unknown colour or label");
  }
  return { colour, label };
}

/** A value of the table `meta`. */
export function meta(db: Database, name: string): number {
  const row = db.get("SELECT value FROM meta WHERE name = ?", name);
  return row === undefined ? 0 : int(row, "value");
}

/** Sets a value of the table `meta`. */
export function setMeta(db: Database, name: string, value: number): void {
  if (meta(db, name) !== value) {
    db.run("UPDATE meta SET value = ? WHERE name = ?", value, name);
  }
}

/** Notifies all processes of a change; `pages`: index.md must be rewritten, too. */
export function changed(db: Database, what: "sources" | "pages"): void {
  db.run("UPDATE meta SET value = value + 1 WHERE name = 'generation'");
  if (what === "pages") db.run("UPDATE meta SET value = value + 1 WHERE name = 'pages'");
}

/** The recorded trust of bytes; undefined for unknown ones. */
export function recordedTrust(db: Database, digest: string): Trust | undefined {
  const row = db.get("SELECT colour, label FROM digests WHERE digest = ?", digest);
  return row === undefined ? undefined : trustOf(row);
}

/**
 * Records colour and label of bytes; a record only ever becomes worse. RED or secret bytes, and those that
 * the wiki itself made (`made`), are marked for reporting to the state. Others are not: of an operator's own
 * file the report would add nothing.
 */
export function recordTrust(
  db: Database,
  digest: string,
  { colour, label }: Trust,
  how?: "made",
): void {
  const telling = colour === "RED" || label === "secret" ||
    (how === "made" && (colour !== "BLUE" || label !== "public"));
  db.run(
    "INSERT INTO digests(digest, colour, label, told) VALUES(?, ?, ?, ?) ON CONFLICT(digest) DO UPDATE SET " +
      "told = CASE WHEN excluded.colour > colour OR excluded.label > label THEN min(told, excluded.told) ELSE told END, " +
      "colour = max(colour, excluded.colour), label = max(label, excluded.label)",
    digest,
    colourNumber(colour),
    labelNumber(label),
    telling ? 0 : 1,
  );
}

/** Excludes bytes from reports: they are the same in many folders. */
export function keepToWiki(db: Database, digest: string): void {
  db.run("UPDATE digests SET told = 1 WHERE digest = ?", digest);
}

/** Bytes not yet reported to the state, at most 1,000. */
export function untoldContents(db: Database): WikiContents["contents"] {
  const rows = db.all("SELECT digest, colour, label, told FROM digests WHERE told <> 1 LIMIT 1000");
  return rows.map((row) => ({
    digest: Digest.parse(text(row, "digest")),
    ...trustOf(row),
    signed: int(row, "told") === 2,
  }));
}

/** Marks reported bytes, unless they changed since. */
export function contentsTold(db: Database, told: WikiContents["contents"]): void {
  db.transaction("note what the state was told", () => {
    for (const { digest, colour, label } of told) {
      db.run(
        "UPDATE digests SET told = 1 WHERE digest = ? AND colour = ? AND label = ?",
        digest,
        colourNumber(colour),
        labelNumber(label),
      );
    }
  });
}
