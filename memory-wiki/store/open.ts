/** Opens a wiki: folder, database, and recovery after a crash or a move. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { retire } from "./_source_rows.ts";
import { adoptRawFiles, setOldLogAside } from "./catalogue/adopt.ts";
import { makeChunkSearch } from "./chunk_search.ts";
import { makeTextLines } from "./files/text_lines.ts";
import { openWikiFolder, STAGED, WIKI_FOLDERS } from "./files/wiki_folder.ts";
import {
  changed,
  type Chunker,
  contentsTold,
  type Inside,
  meta,
  type PageText,
  setMeta,
  type StorePowers,
  untoldContents,
} from "./inside.ts";
import { makeNoteTable } from "./note_table.ts";
import { takeHandEdits } from "./page/hand_edits.ts";
import { makePageTable } from "./page/table.ts";
import { makePatchTable } from "./patch/table.ts";
import { settle, settlePages, settlePictures } from "./settle.ts";
import { makeSourceTable } from "./source/table.ts";
import { json } from "./sqlite/database.ts";
import { makeVectorTable } from "./vector_table.ts";
import { appendEvent, listEvents, verifyLog } from "./wiki_log.ts";
import type { UntoldContents, WikiDocuments, WikiLog, WikiStore } from "./wiki_store.ts";

/** Options and powers for opening a wiki. */
export interface WikiParts extends PageText {
  /** The wiki's folder, real and absolute. */
  readonly folder: string;
  /** STATE/wiki/ID: holds wiki.db and the search index. */
  readonly stateFolder: string;
  /** Whether to create missing parts: folder, raw/, pages/, index.md, log.md, AGENTS.md and state. */
  readonly create: boolean;
  /** Whether nothing is changed, recovered or imported. */
  readonly readOnly: boolean;
  /** Trusted Ed25519 public keys for page marks, raw, base64url. */
  readonly trustedKeys: readonly string[];
  readonly powers: StorePowers;
  /** The text of AGENTS.md. */
  readonly instructions: string;
  /**
   * Makes passages of adopted raw files, and of those whose label changes; without it they can be cited but
   * not found.
   */
  readonly chunk?: Chunker;
}

/** An opened wiki. */
export interface OpenedWiki {
  readonly store: WikiStore;
  /** Recoveries, repairs and adoptions, as sentences. */
  readonly repaired: readonly string[];
}

const INSTRUCTIONS_FILE = "AGENTS.md";
/** Cached link keys. */
const MAX_CACHED = 20_000;

/**
 * Opens a wiki, also after a crash or from another machine.
 * @throws Fault `notFound` for a missing wiki without `create`, `refused` for links, `storeCorrupt`,
 * `storeFull`, `conflict`, `unavailable` for a newer schema
 */
export async function openWikiStore(parts: WikiParts): Promise<OpenedWiki> {
  const { powers, readOnly, stateFolder } = parts;
  const create = parts.create && !readOnly;
  const path = `${stateFolder}/wiki.db`;
  const folder = openWikiFolder(powers.files, { root: parts.folder, create, id: powers.id });
  if (!powers.hasDatabase(path) && !create) {
    throw new Fault(
      "notFound",
      `Cannot open wiki "${parts.folder}": it has no state on this machine; run "remit wiki init" to adopt it`,
    );
  }
  const db = powers.openDatabase({ path, readOnly });
  try {
    const { readPage, writePage, renderIndex, aboutOf, linkKey } = parts;
    const inside: Inside = Object.freeze({
      db,
      folder,
      lines: makeTextLines(folder),
      text: { readPage, writePage, renderIndex, aboutOf, linkKey: remembered(linkKey) },
      chunk: parts.chunk,
      now: powers.now,
      id: powers.id,
    });
    const repaired = readOnly ? [] : await prepare(inside, parts);
    return Object.freeze({ store: storeOf(inside, parts), repaired });
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A cache: the same few thousand links occur on all pages. */
function remembered(keyOf: (target: string) => string): (target: string) => string {
  const known = new Map<string, string>();
  return (target) => {
    const have = known.get(target);
    if (have !== undefined) return have;
    if (known.size >= MAX_CACHED) known.clear();
    const key = keyOf(target);
    known.set(target, key);
    return key;
  };
}

/** Completes interrupted work and creates missing parts. */
async function prepare(inside: Inside, parts: WikiParts): Promise<readonly string[]> {
  const { folder } = inside;
  // Marked when complete, so that an interrupted adoption continues.
  const adopting = meta(inside.db, "adopted") === 0;
  const told = adopting ? [...setOldLogAside(inside)] : [];
  told.push(...repair(inside));
  if (parts.create && folder.expect(INSTRUCTIONS_FILE) === undefined) {
    const bytes = new TextEncoder().encode(parts.instructions);
    folder.place(folder.stage("pages/instructions", bytes), INSTRUCTIONS_FILE);
  }
  if (adopting) {
    told.push(...await adopt(inside));
    setMeta(inside.db, "adopted", 1);
    settlePictures(inside);
  }
  if (told.length > 0) {
    appendEvent(inside, { kind: "repair", by: "remit", text: told.join("; ") });
    settlePictures(inside);
  }
  return told;
}

async function adopt(inside: Inside): Promise<readonly string[]> {
  const told = [...await adoptRawFiles(inside)];
  const { taken, problems } = takeHandEdits(inside);
  if (taken.length > 0) told.push(`${taken.length} pages were adopted`);
  for (const { file, why } of problems) told.push(`${file} was left alone: ${why}`);
  return told;
}

function storeOf(inside: Inside, parts: WikiParts): WikiStore {
  const { db } = inside;
  return Object.freeze<WikiStore>({
    folder: parts.folder,
    stateFolder: parts.stateFolder,
    generation: () => meta(db, "generation"),
    sources: makeSourceTable(inside),
    chunks: makeChunkSearch(inside),
    pages: makePageTable(inside, parts.trustedKeys),
    patches: makePatchTable(inside),
    notes: makeNoteTable(inside),
    log: Object.freeze<WikiLog>({
      append(event) {
        const written = appendEvent(inside, event);
        settle(inside);
        return written;
      },
      list: ({ afterN = 0, limit = -1 }) => listEvents(inside, afterN, limit),
      verify: () => verifyLog(inside),
    }),
    vectors: makeVectorTable(inside),
    documents: makeDocuments(inside),
    contents: Object.freeze<UntoldContents>({
      list: () => untoldContents(db),
      told: (contents) => contentsTold(db, contents),
    }),
    close: () => db.close(),
  });
}

// Repairs when a wiki is opened: interrupted writes, missing files, expired sources.

/** Milliseconds after which no process writes a temporary file any more. */
const OLD_MS = 3_600_000;

/** Recovers and repairs; returns a sentence for each repair. */
function repair(inside: Inside): readonly string[] {
  const { db } = inside;
  const told = [...settlePages(inside)];
  // The rest needs the lock, and usually does nothing.
  db.transaction("repair the wiki", () => {
    for (const part of WIKI_FOLDERS) removeOld(inside, part);
    const expired = expire(inside);
    if (expired > 0) {
      const text = `${expired} sources have expired and are not found any more`;
      appendEvent(inside, { kind: "ingest", by: "remit", text });
    }
  });
  return [...told, ...settlePictures(inside)];
}

function removeOld({ folder, now }: Inside, part: "raw" | "pages"): void {
  for (const { name, kind } of folder.list(part)) {
    if (kind !== "file" || !name.startsWith(STAGED)) continue;
    const found = folder.look(`${part}/${name}`);
    if (found !== undefined && found.changedAt < now() - OLD_MS) folder.remove(`${part}/${name}`);
  }
}

function expire(inside: Inside): number {
  const { db, now } = inside;
  const rows = db.all("SELECT * FROM sources WHERE expires_at <= ? AND state = 0", now());
  for (const row of rows) retire(inside, row, "removed");
  if (rows.length > 0) changed(db, "pages");
  return rows.length;
}

/** Makes the table of documents. */
function makeDocuments({ db }: Inside): WikiDocuments {
  return Object.freeze<WikiDocuments>({
    get(name) {
      const row = db.get("SELECT body FROM documents WHERE name = ?", name);
      return row === undefined ? undefined : json(row, "body");
    },
    put(name, value) {
      db.transaction(`keep document "${name}"`, () => {
        const body = JSON.stringify(value ?? null);
        db.run("INSERT OR REPLACE INTO documents(name, body) VALUES(?, ?)", name, body);
      });
    },
    remove(name) {
      db.transaction(
        `remove document "${name}"`,
        () => db.run("DELETE FROM documents WHERE name = ?", name),
      );
    },
  });
}
