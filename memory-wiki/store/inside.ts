/** What the tables of the store share, and how colours and labels are numbered in the database. @module */
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

/** The machine, as far as the store touches it. Real ones: store_powers.ts. */
export interface StorePowers {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A new name: the prefix and 12 characters of 0-9 and a-z. */
  readonly id: (prefix: string) => string;
  readonly files: WikiFiles;
  readonly openDatabase: (options: EngineOptions) => Database;
  readonly hasDatabase: (path: string) => boolean;
}

/** How pages are read and written: memory-wiki/markdown. */
export interface PageText {
  /** Never throws. */
  readonly readPage: (text: string) => ReadPage;
  readonly writePage: (page: Page, body: string, others?: readonly string[]) => string;
  readonly renderIndex: (rows: readonly IndexRow[]) => string;
  /** The first sentence of a body, at most 160 characters. */
  readonly aboutOf: (body: string) => string;
  /** What a link and the page that it means have in common. */
  readonly linkKey: (target: string) => string;
}

/** Makes passages of a raw file: of one that is found without its state, or whose label changes. */
export type Chunker = (
  text: Uint8Array,
  kind: SourceKind,
  name: string,
) => { readonly title: string; readonly chunks: readonly NewChunk[] };

/** What the tables share. */
export interface Inside {
  readonly db: Database;
  readonly folder: WikiFolder;
  readonly lines: TextLines;
  readonly text: PageText;
  /** Passages of a source whose own are not at hand. */
  readonly chunk: Chunker | undefined;
  readonly now: () => number;
  readonly id: (prefix: string) => string;
}

const COLOURS = Colour.options;
const LABELS = Label.options;

/** A colour's number: 0 is the most trusted. */
export function colourNumber(colour: Colour): number {
  return COLOURS.indexOf(colour);
}

/** A label's number: 0 is `public`. */
export function labelNumber(label: Label): number {
  return LABELS.indexOf(label);
}

/** Labels that a clearance covers, lowest first. */
export function labelsUpTo(clearance: Label): readonly Label[] {
  return LABELS.slice(0, labelNumber(clearance) + 1);
}

/** The columns `colour` and `label` of a row. @throws Fault `storeCorrupt` */
export function trustOf(row: Row): Trust {
  const [colour, label] = [COLOURS[int(row, "colour")], LABELS[int(row, "label")]];
  if (colour === undefined || label === undefined) {
    throw new Fault("storeCorrupt", "Cannot read the wiki's database: an unknown colour or label");
  }
  return { colour, label };
}

/** A number of the table `meta`. */
export function meta(db: Database, name: string): number {
  const row = db.get("SELECT value FROM meta WHERE name = ?", name);
  return row === undefined ? 0 : int(row, "value");
}

/** Sets a number of the table `meta`. */
export function setMeta(db: Database, name: string, value: number): void {
  if (meta(db, name) !== value) {
    db.run("UPDATE meta SET value = ? WHERE name = ?", value, name);
  }
}

/** Tells every process that something changed; `pages`: that index.md has to be written anew, too. */
export function changed(db: Database, what: "sources" | "pages"): void {
  db.run("UPDATE meta SET value = value + 1 WHERE name = 'generation'");
  if (what === "pages") db.run("UPDATE meta SET value = value + 1 WHERE name = 'pages'");
}

/** What was recorded for bytes: undefined for unknown ones. */
export function recordedTrust(db: Database, digest: string): Trust | undefined {
  const row = db.get("SELECT colour, label FROM digests WHERE digest = ?", digest);
  return row === undefined ? undefined : trustOf(row);
}

/**
 * Records colour and label of bytes; what was recorded can only become worse. The whole state is told of what is RED or
 * secret, and of what the wiki itself made (`made`): of an operator's own file it is told nothing that its place says, too.
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

/** Bytes that are the same in many folders: the state is not told of them. */
export function keepToWiki(db: Database, digest: string): void {
  db.run("UPDATE digests SET told = 1 WHERE digest = ?", digest);
}

/** What the state has not been told yet, at most 1,000. */
export function untoldContents(db: Database): WikiContents["contents"] {
  const rows = db.all("SELECT digest, colour, label, told FROM digests WHERE told <> 1 LIMIT 1000");
  return rows.map((row) => ({
    digest: Digest.parse(text(row, "digest")),
    ...trustOf(row),
    signed: int(row, "told") === 2,
  }));
}

/** The state was told of these, as they were. */
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
