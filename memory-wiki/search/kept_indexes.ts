/** The page indexes of all clearances that asked: in memory, kept in files, brought up to date, built anew when they are not whole. @module */
import { createHash } from "node:crypto";
import { Label } from "../../contracts/authority/mod.ts";
import { makePageIndex, type PageIndex, type PageIndexDump } from "./page_index.ts";
import type { SearchedStore } from "./passage.ts";
import type { Ranking } from "./ranking.ts";
import type { IndexFiles } from "./search.ts";

export interface KeptIndexes {
  /** The index of a clearance, up to date. */
  of(clearance: Label): PageIndex;
  rebuild(): void;
  save(): void;
  state(): "fresh" | "behind" | "missing";
}

interface Held {
  readonly index: PageIndex;
  /** The generation that its file has. */
  kept: number;
}

const LABELS = Label.options;
const fileOf = (clearance: Label): string => `pages-${clearance}.idx`;

/** Makes them; nothing is read before it is asked for. */
export function makeKeptIndexes(
  store: SearchedStore,
  files: IndexFiles,
  ranking: Ranking,
): KeptIndexes {
  const held = new Map<Label, Held>();

  const load = (clearance: Label): Held => {
    const bytes = files.read(fileOf(clearance));
    const dump = bytes === undefined ? undefined : readIndex(clearance, bytes);
    // A file from a store that was put back to an earlier day knows versions that do not exist.
    const usable = dump !== undefined && dump.generation <= store.generation();
    const index = usable
      ? loaded(store, clearance, { dump, ranking })
      : makePageIndex(store, clearance, { ranking });
    return { index, kept: index.generation };
  };
  const of = (clearance: Label): PageIndex => {
    let found = held.get(clearance);
    if (found === undefined) {
      found = load(clearance);
      held.set(clearance, found);
    }
    found.index.follow();
    return found.index;
  };

  return Object.freeze<KeptIndexes>({
    of,
    rebuild() {
      const wanted = LABELS.filter((label) =>
        held.has(label) || files.read(fileOf(label), 0) !== undefined
      );
      for (const label of LABELS) files.remove(fileOf(label));
      held.clear();
      for (const label of wanted) of(label);
    },
    save() {
      for (const [clearance, each] of held) {
        if (each.index.generation === each.kept) continue;
        files.write(fileOf(clearance), writeIndex(clearance, each.index.dump()));
        each.kept = each.index.generation;
      }
    },
    state() {
      const now = store.generation();
      const generations = LABELS.flatMap((label) => {
        const inMemory = held.get(label)?.index.generation;
        if (inMemory !== undefined) return [inMemory];
        const bytes = files.read(fileOf(label), MAX_HEAD);
        return bytes === undefined ? [] : indexGeneration(bytes) ?? [];
      });
      if (generations.length === 0) return "missing";
      return Math.max(...generations) === now ? "fresh" : "behind";
    },
  });
}

/** The index of a dump; an empty one when Orama does not take it. */
function loaded(
  store: SearchedStore,
  clearance: Label,
  options: Parameters<typeof makePageIndex>[2] & { readonly ranking: Ranking },
): PageIndex {
  try {
    return makePageIndex(store, clearance, options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return makePageIndex(store, clearance, { ranking: options.ranking });
  }
}

// The bytes of a kept index: a line of what it is, with the checksum of the rest.

/** Raised when the words, the passages or Orama's dump change: an older file is then built anew. */
const INDEX_FORMAT = "remit-wiki-index 7 orama-3.1.18";
/** Bytes within which the first line ends. */
const MAX_HEAD = 512;

/** By hand and not by a schema, which takes as long as reading the JSON: what is within is vouched for by the checksum. */
function dumpOf(clearance: Label, generation: number, value: unknown): PageIndexDump | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!("clearance" in value) || value.clearance !== clearance) return undefined;
  if (!("generation" in value) || value.generation !== generation) return undefined;
  if (!("pages" in value) || !Array.isArray(value.pages) || !("words" in value)) return undefined;
  const { pages, words } = value;
  return { generation, pages, words };
}

/** Writes a dump. */
function writeIndex(clearance: Label, dump: PageIndexDump): Uint8Array {
  const body = new TextEncoder().encode(JSON.stringify({ clearance, ...dump }));
  const head = new TextEncoder().encode(
    `${INDEX_FORMAT} ${dump.generation} ${body.length} ${sha256(body)}\n`,
  );
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/** Generation of a kept index, by its first line alone; undefined for what is none. */
function indexGeneration(bytes: Uint8Array): number | undefined {
  return headOf(bytes)?.generation;
}

/** Reads a dump; undefined for anything that {@link writeIndex} did not write for this clearance. */
export function readIndex(clearance: Label, bytes: Uint8Array): PageIndexDump | undefined {
  const head = headOf(bytes);
  if (head === undefined) return undefined;
  const body = bytes.subarray(head.end);
  if (body.length !== head.length || sha256(body) !== head.sha256) return undefined;
  // TRUST: the checksum held, so that it is ours and whole; another clearance's file under this name is refused.
  return dumpOf(clearance, head.generation, JSON.parse(new TextDecoder().decode(body)));
}

function headOf(bytes: Uint8Array) {
  const end = bytes.subarray(0, MAX_HEAD).indexOf(10);
  if (end < 0) return undefined;
  const line = new TextDecoder().decode(bytes.subarray(0, end));
  if (!line.startsWith(`${INDEX_FORMAT} `)) return undefined;
  const [, generation, length, sha] =
    /^(\d{1,15}) (\d{1,12}) ([0-9a-f]{64})$/.exec(line.slice(INDEX_FORMAT.length + 1)) ?? [];
  if (sha === undefined) return undefined;
  return { generation: Number(generation), length: Number(length), sha256: sha, end: end + 1 };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
