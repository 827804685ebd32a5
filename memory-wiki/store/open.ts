/** Opens a wiki: its folder, its database, and what a crash or another machine left. @module */
import { Fault } from "../../contracts/mod.ts";
import { adoptRawFiles, setOldLogAside } from "./catalogue/adopt.ts";
import { makeChunkSearch } from "./chunk_search.ts";
import { makeDocuments } from "./document_table.ts";
import { makeTextLines } from "./files/text_lines.ts";
import { openWikiFolder } from "./files/wiki_folder.ts";
import { takeHandEdits } from "./page/hand_edits.ts";
import {
  type Chunker,
  contentsTold,
  type Inside,
  meta,
  type PageText,
  setMeta,
  type StorePowers,
  untoldContents,
} from "./inside.ts";
import { makePageLeases } from "./lease_table.ts";
import { makeNoteTable } from "./note_table.ts";
import { makePageTable } from "./page/table.ts";
import { makePatchTable } from "./patch/table.ts";
import { repair } from "./repair.ts";
import { settle, settlePictures } from "./settle.ts";
import { makeSourceTable } from "./source/table.ts";
import { makeVectorTable } from "./vector_table.ts";
import { appendEvent, listEvents, verifyLog } from "./wiki_log.ts";
import type { UntoldContents, WikiLog, WikiStore } from "./wiki_store.ts";

/** What a wiki is opened with. */
export interface WikiParts extends PageText {
  /** The wiki's folder, real and absolute. */
  readonly folder: string;
  /** STATE/wiki/ID: holds wiki.db, and indexes of others. */
  readonly stateFolder: string;
  /** Make what is missing of folder, raw/, pages/, index.md, log.md, AGENTS.md and state. */
  readonly create: boolean;
  /** Nothing is changed, finished or taken in. */
  readonly readOnly: boolean;
  /** Raw Ed25519 public keys, base64url, whose page marks hold. */
  readonly trustedKeys: readonly string[];
  readonly powers: StorePowers;
  /** The text of AGENTS.md. */
  readonly instructions: string;
  /** Makes passages of adopted raw files, and of those whose label changes; without it they are kept and cited, but not found. */
  readonly chunk?: Chunker;
}

/** A wiki that was opened. */
export interface OpenedWiki {
  readonly store: WikiStore;
  /** What was finished, repaired or adopted, sentences. */
  readonly repaired: readonly string[];
}

const INSTRUCTIONS_FILE = "AGENTS.md";
/** Keys of links that are remembered. */
const REMEMBERED = 20_000;

/**
 * Opens a wiki, after a crash or of another machine too.
 * @throws Fault `notFound` where there is none and `create` is not set, `refused` for links, `storeCorrupt`,
 * `storeFull`, `conflict`, `unavailable` for a newer schema.
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

/** The same few thousand links stand on all pages. */
function remembered(keyOf: (target: string) => string): (target: string) => string {
  const known = new Map<string, string>();
  return (target) => {
    const have = known.get(target);
    if (have !== undefined) return have;
    if (known.size >= REMEMBERED) known.clear();
    const key = keyOf(target);
    known.set(target, key);
    return key;
  };
}

/** Finishes what was begun, and makes what is missing. */
async function prepare(inside: Inside, parts: WikiParts): Promise<readonly string[]> {
  const { folder } = inside;
  // Marked when done, so that a crash in the middle of an adoption is one that goes on.
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
    leases: makePageLeases(inside),
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
