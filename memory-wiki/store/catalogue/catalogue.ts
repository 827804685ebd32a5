/**
 * `raw/sources.jsonl` describes the files beside it, for a wiki that is moved or cloned without its state. Rendered
 * from the database line by line; while there is a database the file is not trusted, and is rewritten if altered.
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
import { isBeginning, logPictureLags, writeLogPicture } from "../wiki_log.ts";

// Entries of `raw/sources.jsonl`. The store writes them, but parses them as untrusted.

/** Path of the catalogue. */
export const CATALOGUE_FILE = "raw/sources.jsonl";
/** Maximum bytes of a line: more than the longest key and origin with every character escaped. */
export const LINE_BYTES = 131_072;
/** Maximum plausible version. */
const MAX_VERSION = 1_000_000_000;

const { digest, raw, text, key, version, kind, title, state } = WikiSource.shape;
const { origin, by, retrievedAt, parser } = SourceOrigin.shape;

/** A line: a version when it was ingested, superseded, removed, renewed or downgraded. */
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

/** The line of an entry. The digest comes first, so that {@link digestOfLine} needs no parsing. */
function catalogueLine({ digest, ...more }: CatalogueEntry): string {
  return `${JSON.stringify({ digest, ...more })}\n`;
}

/** The digest at the beginning of a line; undefined for a line of another format. */
export function digestOfLine(line: string): string | undefined {
  return /^\{"digest":"([0-9a-f]{64})",/.exec(line)?.[1];
}

/** Parses the entry of a line; undefined if invalid. */
export function tryCatalogueEntry(line: string): CatalogueEntry | undefined {
  try {
    return CatalogueEntry.safeParse(JSON.parse(line)).data;
  } catch (error) {
    // Deep nesting may throw a RangeError.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Lines per read. */
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

/** The lines after the first `after`, in pieces. */
function* linesAfter({ db }: Inside, after: number): Generator<Uint8Array> {
  for (let from = after;;) {
    // The event's columns come last, so that they override the source's.
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
  /** Number of lines written. */
  readonly n: number;
  /** State of the file when written; empty if it never was. */
  readonly mark: string;
}

function pictureOf({ db }: Inside): Picture {
  const row = db.get("SELECT n, mark FROM pictures WHERE name = 'sources'") ?? {};
  return { n: int(row, "n"), mark: textOf(row, "mark") };
}

function lastEvent({ db }: Inside): number {
  return Number(db.get("SELECT max(n) AS n FROM source_events")?.["n"] ?? 0);
}

/** Whether the catalogue is outdated or altered. Before a wiki is adopted, its catalogue must stay as it is. */
export function catalogueLags(inside: Inside): boolean {
  if (meta(inside.db, "adopted") === 0) return false;
  const { n, mark } = pictureOf(inside);
  return lastEvent(inside) !== n || (inside.folder.look(CATALOGUE_FILE)?.mark ?? "") !== mark;
}

/** Throws `refused` if something at the catalogue's path must not be overwritten. */
export function checkCatalogue({ folder }: Inside): void {
  if ((folder.expect(CATALOGUE_FILE)?.names ?? 1) === 1) return;
  throw new Fault("refused", `Cannot use "${CATALOGUE_FILE}": the file has another name elsewhere`);
}

/** Updates the catalogue; returns the repair. Within a transaction. */
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

/** Updates catalogue and log after a transaction. On a full disk the next change retries. */
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
