/** The page indexes of all clearances that asked: in memory, kept in files, brought up to date, built anew when they are not whole. @module */
import { Label } from "../../contracts/mod.ts";
import type { SearchedStore } from "./searched_store.ts";
import { indexGeneration, MOST_HEAD, readIndex, writeIndex } from "./index_file.ts";
import { makePageIndex, type PageIndex } from "./page_index.ts";
import type { Ranking } from "./ranking.ts";
import type { IndexFiles } from "./search.ts";

/** See {@link makeKeptIndexes}. */
export interface KeptIndexes {
  /** The index of a clearance, up to date. */
  of(clearance: Label): PageIndex;
  follow(): void;
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
    follow() {
      for (const clearance of held.keys()) of(clearance);
    },
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
        const bytes = files.read(fileOf(label), MOST_HEAD);
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
