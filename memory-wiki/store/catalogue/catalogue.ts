/**
 * `raw/sources.jsonl`: which sources the files beside it are, for a wiki that is moved or cloned without its state. A
 * picture of the database, line for line; while there is a database, nothing in it counts, and where it was altered
 * it is written anew.
 * @module
 */
import * as z from "zod";
import { Colour, Label, Millis } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { SourceOrigin, WikiSource } from "../../../contracts/memory/mod.ts";
import { joinBytes } from "../../../port/join_bytes.ts";
import { sourceOf } from "../_source_rows.ts";
import { type Inside, meta } from "../inside.ts";
import { int, type Row, text as textOf } from "../sqlite/database.ts";
import { logPictureLags, writeLogPicture } from "../wiki_log.ts";

// What `raw/sources.jsonl` says of one version of a source. It is written by the store, and read
// as anyone's words.

/** Where the catalogue lies. */
export const CATALOGUE_FILE = "raw/sources.jsonl";
/** Most of one line, bytes: the longest key and origin, every character escaped, and more. */
export const LINE_BYTES = 131_072;
/** A version beyond this is nobody's. */
const MAX_VERSION = 1_000_000_000;

const { digest, raw, text, key, version, kind, title, state } = WikiSource.shape;
const { origin, by, retrievedAt, parser } = SourceOrigin.shape;

/** One line: how a version stood when it was taken in, superseded, removed, renewed or judged worse. */
export const CatalogueEntry = z.object({
  ...{ digest, raw, text, key, version: version.max(MAX_VERSION), kind, title },
  ...{ origin, by, retrievedAt, parser },
  colour: Colour,
  label: Label,
  expiresAt: Millis.optional(),
  state,
}).strict().refine(
  (entry) =>
    [entry.key, entry.title, entry.origin, entry.by, entry.raw, entry.text, entry.parser ?? ""]
      .every((words) => words.isWellFormed()),
  "it is no Unicode text",
);
export type CatalogueEntry = z.infer<typeof CatalogueEntry>;

/** The line of an entry, with its line feed. Its digest comes first: {@link digestOfLine} finds it without parsing. */
function catalogueLine({ digest, ...more }: CatalogueEntry): string {
  return `${JSON.stringify({ digest, ...more })}\n`;
}

/** The digest that a line begins with; undefined where it is none of the store's form. */
export function digestOfLine(line: string): string | undefined {
  return /^\{"digest":"([0-9a-f]{64})",/.exec(line)?.[1];
}

/** The entry of a line without its line feed; undefined where it is none. */
export function tryCatalogueEntry(line: string): CatalogueEntry | undefined {
  try {
    return CatalogueEntry.safeParse(JSON.parse(line)).data;
  } catch (error) {
    // Deep nesting may end as a RangeError.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Lines of one reading. */
const PAGE = 1_000;
const encoder = new TextEncoder();

function lineOf(row: Row): string {
  const source = sourceOf(row);
  const { digest, raw, text, key, version, kind, title, colour, label, state } = source;
  return catalogueLine({
    ...{ digest, raw, text, key, version, kind, title, ...source.provenance, colour, label },
    ...(source.expiresAt === undefined ? {} : { expiresAt: source.expiresAt }),
    state,
  });
}

/** The lines after the first `after` ones, in pieces. */
function* linesAfter({ db }: Inside, after: number): Generator<Uint8Array> {
  for (let from = after;;) {
    // The event's columns come last, so they are those that the row has.
    const rows = db.all(
      "SELECT s.*, e.n, e.state AS state, e.label AS label, e.colour AS colour, e.expires_at AS expires_at " +
        "FROM source_events e JOIN sources s ON s.id = e.source WHERE e.n > ? ORDER BY e.n LIMIT ?",
      from,
      PAGE,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield encoder.encode(rows.map(lineOf).join(""));
    from = int(last, "n");
  }
}

interface Picture {
  /** Lines that were written. */
  readonly n: number;
  /** The file as it was left; empty where it was never written. */
  readonly mark: string;
}

function pictureOf({ db }: Inside): Picture {
  const row = db.get("SELECT n, mark FROM pictures WHERE name = 'sources'") ?? {};
  return { n: int(row, "n"), mark: textOf(row, "mark") };
}

function lastEvent({ db }: Inside): number {
  return Number(db.get("SELECT max(n) AS n FROM source_events")?.["n"] ?? 0);
}

/** Whether the catalogue lacks lines, or is not as it was left. Before a wiki is adopted, its own is still to be read. */
export function catalogueLags(inside: Inside): boolean {
  if (meta(inside.db, "adopted") === 0) return false;
  const { n, mark } = pictureOf(inside);
  return lastEvent(inside) !== n || (inside.folder.look(CATALOGUE_FILE)?.mark ?? "") !== mark;
}

/** Throws `refused` where something lies in the catalogue's place that must not be written. */
export function checkCatalogue({ folder }: Inside): void {
  if ((folder.expect(CATALOGUE_FILE)?.names ?? 1) === 1) return;
  throw new Fault("refused", `Cannot use "${CATALOGUE_FILE}": the file has another name elsewhere`);
}

/** Brings the catalogue up to the database; gives what it repaired. Within a transaction. */
export function writeCatalogue(inside: Inside): string | undefined {
  const { db, folder } = inside;
  checkCatalogue(inside);
  const { n, mark } = pictureOf(inside);
  const found = folder.expect(CATALOGUE_FILE);
  let repaired: string | undefined;
  if ((found?.mark ?? "") === mark) {
    for (const piece of linesAfter(inside, n)) folder.append(CATALOGUE_FILE, piece);
  } else {
    const whole = joinBytes(linesAfter(inside, 0));
    const there = found === undefined || found.bytes > whole.length
      ? undefined
      : folder.read(CATALOGUE_FILE, whole.length);
    if (there !== undefined && isBeginning(there, whole)) {
      if (there.length < whole.length) {
        folder.append(CATALOGUE_FILE, whole.subarray(there.length));
        repaired = "had been cut; it was completed from the database";
      }
    } else {
      folder.place(folder.stage(CATALOGUE_FILE, whole), CATALOGUE_FILE);
      repaired = `was ${
        found === undefined ? "gone" : "altered"
      }; it was written anew from the database`;
    }
  }
  db.run(
    "UPDATE pictures SET n = ?, mark = ? WHERE name = 'sources'",
    lastEvent(inside),
    folder.look(CATALOGUE_FILE)?.mark ?? "",
  );
  return repaired === undefined || mark === "" ? undefined : `${CATALOGUE_FILE} ${repaired}`;
}

function isBeginning(part: Uint8Array, whole: Uint8Array): boolean {
  for (let at = 0; at < part.length; at++) if (part[at] !== whole[at]) return false;
  return true;
}

/** Writes what a transaction brought to catalogue and log. What finds no room follows with the next change. */
export function followCatalogue(inside: Inside): void {
  if (!catalogueLags(inside)) return;
  try {
    inside.db.transaction(`write ${CATALOGUE_FILE}`, () => {
      writeCatalogue(inside);
      if (logPictureLags(inside)) writeLogPicture(inside);
    });
  } catch (error) {
    if (error instanceof Fault && (error.code === "storeFull" || error.code === "conflict")) return;
    throw error;
  }
}
