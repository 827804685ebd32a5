/** What the last extraction left, so that one after which nothing changed does no work. @module */
import * as z from "zod";
import type { PageName, WikiSource } from "../../contracts/mod.ts";
import type { WikiStore } from "../store/wiki_store.ts";

/** Raised with each change of the pages that the same sources give: then all are made anew once. */
const RULES = 1;
const DOCUMENT = "extract/last";

const Memo = z.object({
  rules: z.literal(RULES),
  generation: z.int(),
  /** Milliseconds: when the sources were read, and when the first of them will no longer count. */
  from: z.number(),
  until: z.number().nullable(),
  drafts: z.int().min(0),
});

/** What one extraction read, and which of its pages stand after it. */
export interface Extraction {
  readonly at: number;
  readonly sources: readonly WikiSource[];
  /** Pages that were made, whoever's they are. */
  readonly drafts: number;
  /** Its own pages, with the version that they must have; 0 where any will do. */
  readonly standing: ReadonlyMap<PageName, number>;
}

/** How many pages stand as an extraction now would leave them; undefined when that is not known. */
export function standingPages(
  { documents, generation }: WikiStore,
  now: number,
): number | undefined {
  const memo = Memo.safeParse(documents.get(DOCUMENT));
  if (!memo.success || memo.data.generation !== generation()) return undefined;
  const { from, until, drafts } = memo.data;
  return from <= now && now < (until ?? Infinity) ? drafts : undefined;
}

/** Keeps what an extraction left, unless another process changed something while it was at work. */
export function keepStanding(
  store: WikiStore,
  done: Extraction,
  listed: { readonly sources: readonly WikiSource[]; readonly own: ReadonlyMap<PageName, number> },
  generation: number,
): void {
  const same = listed.sources.length === done.sources.length &&
    listed.sources.every(({ id }, n) => id === done.sources[n]?.id);
  const stand = listed.own.size === done.standing.size &&
    [...done.standing].every(([name, version]) => {
      const now = listed.own.get(name);
      return now !== undefined && (version === 0 || version === now);
    });
  if (!same || !stand || store.generation() !== generation) return;
  const ends = done.sources.flatMap(({ expiresAt }) => expiresAt === undefined ? [] : [expiresAt]);
  const until = ends.reduce((least, end) => Math.min(least, end), Infinity);
  store.documents.put(DOCUMENT, {
    rules: RULES,
    generation,
    from: done.at,
    until: until === Infinity ? null : until,
    drafts: done.drafts,
  });
}
