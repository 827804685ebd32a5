/** What models have said of pairs of claims: kept, so that no pair is paid for twice. @module */
import * as z from "zod";
import type { Label } from "../../contracts/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { WikiDocuments } from "../store/wiki_store.ts";
import { likeClaims, type LikePair } from "./like_claims.ts";
import type { ListedPages } from "./pages.ts";

/** Most pairs of one lint. */
const MOST_PAIRS = 400;
/** Verdicts of one model that are kept: the newest. */
const MOST_KEPT = 10 * MOST_PAIRS;
/** By the pair's id: why the two cannot both be right, or empty where they can. */
const Verdicts = z.record(z.string().regex(/^[0-9a-f]{24}$/), z.string().max(500));

/** A pair with what a model said of it. */
export interface JudgedPair extends LikePair {
  /** Undefined while the model was not asked; empty where both can be right. */
  readonly why?: string;
}

/** Reads and keeps what one model says. */
export interface JudgedPairs {
  /** The pairs that stand now on pages that `clearance` covers. */
  list(clearance: Label): readonly JudgedPair[];
  keep(verdicts: readonly { readonly id: string; readonly why: string }[]): void;
}

/** Keeps them among the wiki's documents. */
export function makeJudgedPairs(
  store: ListedPages & { readonly documents: Pick<WikiDocuments, "get" | "put"> },
  model: string,
): JudgedPairs {
  const name = `lint/pairs/${sha256Hex(model).slice(0, 16)}`;
  const known = (): z.infer<typeof Verdicts> => {
    const parsed = Verdicts.safeParse(store.documents.get(name) ?? {});
    return parsed.success ? parsed.data : {};
  };
  return Object.freeze<JudgedPairs>({
    list(clearance) {
      const said = known();
      return likeClaims(store, { clearance, limit: MOST_PAIRS }).map((pair) => {
        const why = said[pair.id];
        return why === undefined ? pair : { ...pair, why };
      });
    },
    keep(verdicts) {
      const all = new Map(Object.entries(known()));
      for (const { id, why } of verdicts) {
        all.delete(id);
        all.set(id, why);
      }
      store.documents.put(name, Object.fromEntries([...all].slice(-MOST_KEPT)));
    },
  });
}
