/** The page indexes of all clearances that asked: kept in files, read block by block, brought up to date, built anew when they are not whole. @module */
import { Label } from "../../contracts/authority/mod.ts";
import {
  DamagedIndex,
  type IndexBytes,
  indexGeneration,
  type KeptIndex,
  openIndex,
  writeIndex,
} from "./index_file.ts";
import { makePageIndex, type PageIndex } from "./page_index.ts";
import type { SearchedStore } from "./passage.ts";
import type { Ranking } from "./ranking.ts";

/** Files of the index beneath one folder. */
export interface IndexFiles {
  /** The file, to be read by ranges: what it was when it was opened. Undefined when it is not there. */
  open(name: string): IndexBytes | undefined;
  /** Whole or not at all: temporary file, fsync, rename. */
  write(name: string, bytes: Uint8Array): void;
  remove(name: string): void;
}

export interface KeptIndexes {
  /** The index of a clearance, up to date. */
  of(clearance: Label): PageIndex;
  /** Runs `work`; once more over indexes that are built anew, where it met a block that is not what was written. */
  sound<T>(work: () => T): T;
  rebuild(): void;
  save(): void;
  state(): "fresh" | "behind" | "missing";
}

interface Held {
  readonly index: PageIndex;
  readonly file: KeptIndex | undefined;
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

  const open = (clearance: Label): KeptIndex | undefined => {
    const bytes = files.open(fileOf(clearance));
    const found = bytes === undefined ? undefined : openIndex(clearance, bytes);
    // A file from a store that was put back to an earlier day knows versions that do not exist.
    if (found !== undefined && found.generation <= store.generation()) return found;
    bytes?.close();
    return undefined;
  };
  const of = (clearance: Label): PageIndex => {
    let found = held.get(clearance);
    if (found === undefined) {
      const kept = open(clearance);
      const index = makePageIndex(store, clearance, {
        ranking,
        ...(kept === undefined ? {} : { kept }),
      });
      found = { index, file: kept, kept: index.generation };
      held.set(clearance, found);
    }
    found.index.follow();
    return found.index;
  };
  const forget = (): void => {
    for (const { file } of held.values()) file?.close();
    held.clear();
  };

  const kept = Object.freeze<KeptIndexes>({
    of,
    sound(work) {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof DamagedIndex)) throw error;
        const labels = [...held.keys()];
        for (const label of labels) files.remove(fileOf(label));
        forget();
        labels.forEach(of);
        return work();
      }
    },
    rebuild() {
      const wanted = LABELS.filter((label) => {
        const file = files.open(fileOf(label));
        file?.close();
        return held.has(label) || file !== undefined;
      });
      for (const label of LABELS) files.remove(fileOf(label));
      forget();
      for (const label of wanted) of(label);
    },
    save: () =>
      kept.sound(() => {
        for (const clearance of [...held.keys()]) {
          of(clearance);
          const each = held.get(clearance);
          if (each === undefined || each.index.generation === each.kept) continue;
          const { generation } = each.index;
          files.write(fileOf(clearance), writeIndex(clearance, generation, each.index.all()));
          each.kept = generation;
        }
      }),
    state() {
      const now = store.generation();
      const generations = LABELS.flatMap((label) => {
        const inMemory = held.get(label)?.index.generation;
        if (inMemory !== undefined) return [inMemory];
        const file = files.open(fileOf(label));
        const generation = file === undefined ? undefined : indexGeneration(file);
        file?.close();
        return generation ?? [];
      });
      if (generations.length === 0) return "missing";
      return Math.max(...generations) === now ? "fresh" : "behind";
    },
  });
  return kept;
}
