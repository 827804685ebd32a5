/** Page indexes by clearance: stored in files, read block by block, updated, and rebuilt when damaged. @module */
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

/** Files of the index in one folder. */
export interface IndexFiles {
  /** Opens the file as it is now; undefined if missing. */
  open(name: string): IndexBytes | undefined;
  /** Atomic: temporary file, fsync, rename. */
  write(name: string, bytes: Uint8Array): void;
  remove(name: string): void;
}

export interface KeptIndexes {
  /** The up-to-date index of a clearance. */
  of(clearance: Label): PageIndex;
  /** Runs `work`; if it meets a damaged block, rebuilds the indexes and runs it again. */
  sound<T>(work: () => T): T;
  rebuild(): void;
  save(): void;
  state(): "fresh" | "behind" | "missing";
}

interface Held {
  readonly index: PageIndex;
  readonly file: KeptIndex | undefined;
  /** The generation in its file. */
  kept: number;
}

const LABELS = Label.options;
const fileOf = (clearance: Label): string => `pages-${clearance}.idx`;

/** Makes the indexes; each is read on demand. */
export function makeKeptIndexes(
  store: SearchedStore,
  files: IndexFiles,
  ranking: Ranking,
): KeptIndexes {
  const held = new Map<Label, Held>();

  const open = (clearance: Label): KeptIndex | undefined => {
    const bytes = files.open(fileOf(clearance));
    const found = bytes === undefined ? undefined : openIndex(clearance, bytes);
    // The store was restored to an earlier state, so the file refers to versions that do not exist.
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
