/**
 * Pairs of claims that speak of the same thing in other words or with other figures: what a model is asked about, where
 * rules see too little.
 * @module
 */
import * as z from "zod";
import { type Colour, type Label, mixColour, mixLabel } from "../../contracts/authority/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { WikiDocuments } from "../store/wiki_store.ts";
import { stemOf } from "../search/stem.ts";
import { tokensOf } from "./facts/tokens.ts";
import { NEGATIONS, STOP } from "./facts/vocabulary.ts";
import { bareWords } from "./link_names.ts";
import { type LintedPage, lintedPages, type ListedPages } from "./rule.ts";

/** Where a claim stands, and its words. */
export interface ClaimPlace {
  /** `pages/NAME.md` */
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Two claims that may not both be right. */
export interface LikePair {
  /** Names the words of both, wherever they stand: 24 hex characters. */
  readonly id: string;
  readonly a: ClaimPlace;
  readonly b: ClaimPlace;
  /** Of both pages together. */
  readonly label: Label;
  readonly colour: Colour;
}

/** A claim as it is compared. */
interface Told {
  readonly place: ClaimPlace;
  readonly label: Label;
  readonly colour: Colour;
  /** What it cites: digests and lines. */
  readonly rests: string;
  readonly stems: readonly string[];
}

/** A word that more claims hold says nothing about what a claim is about. */
const COMMON = 48;
/** Rarest words of a claim by which others are looked for: work grows with claims, not with their pairs. */
const LOOKED_FOR = 6;
/** Words that both must hold, and the share of their weight. */
const LEAST_SHARED = 2;
const LEAST_ALIKE = 0.35;
const LONGEST = 500;

/** The most alike pairs of what `clearance` covers, at most `limit`, the most alike first. */
export function likeClaims(
  store: ListedPages,
  { clearance, limit }: { readonly clearance: Label; readonly limit: number },
): readonly LikePair[] {
  const told = distinctClaims(store, clearance);
  const holding = new Map<string, number[]>();
  for (const [n, { stems }] of told.entries()) {
    for (const word of stems) {
      const known = holding.get(word);
      if (known === undefined) holding.set(word, [n]);
      else known.push(n);
    }
  }
  const held = (word: string): number => holding.get(word)?.length ?? 0;
  const weightOf = (words: readonly string[]): number =>
    words.reduce((sum, word) => sum + Math.log(1 + told.length / Math.max(1, held(word))), 0);
  const weights = told.map(({ stems }) => weightOf(stems));

  const found: { readonly a: Told; readonly b: Told; readonly alike: number }[] = [];
  for (const [n, a] of told.entries()) {
    const words = new Set(a.stems);
    const rarest = a.stems.filter((word) => held(word) <= COMMON)
      .toSorted((x, y) => held(x) - held(y)).slice(0, LOOKED_FOR);
    const near = new Set(rarest.flatMap((word) => holding.get(word) ?? []));
    for (const m of near) {
      const b = told[m];
      // What rests on the same lines was judged by whoever wrote them.
      if (m <= n || b === undefined || (a.rests !== "" && a.rests === b.rests)) continue;
      const shared = b.stems.filter((word) => words.has(word));
      if (shared.length < LEAST_SHARED) continue;
      const alike = weightOf(shared) / Math.sqrt((weights[n] ?? 1) * (weights[m] ?? 1));
      if (alike >= LEAST_ALIKE) found.push({ a, b, alike });
    }
  }
  return found.sort((x, y) => y.alike - x.alike).slice(0, limit).map(({ a, b }) => pairOf(a, b));
}

/** Claims of all pages, those of the same words once: sentences of sources stand on many pages. */
function distinctClaims(store: ListedPages, clearance: Label): readonly Told[] {
  const told = new Map<string, Told>();
  for (const page of lintedPages(store, clearance)) {
    for (const each of claimsOf(page)) {
      const key = bareWords(each.place.text);
      if (!told.has(key)) told.set(key, each);
    }
  }
  return [...told.values()];
}

function* claimsOf({ page, file, read }: LintedPage): Generator<Told> {
  const cited = new Map(
    read.citations.map(({ note, digestPrefix, startLine, endLine }) =>
      [note, `${digestPrefix}:${startLine}-${endLine}`] as const
    ),
  );
  for (const { line, text, notes } of read.claims) {
    const stems = [
      ...new Set(
        tokensOf(text).flatMap((token) =>
          token.kind !== "word" || STOP.has(token.text) || NEGATIONS.has(token.text)
            ? []
            : [stemOf(token.text)]
        ),
      ),
    ];
    if (stems.length <= LEAST_SHARED) continue;
    yield {
      place: { file, line, text: text.slice(0, LONGEST).toWellFormed() },
      ...{ label: page.label, colour: page.colour, stems },
      rests: notes.map((note) => cited.get(note) ?? "").sort().join(","),
    };
  }
}

function pairOf(a: Told, b: Told): LikePair {
  const words = [bareWords(a.place.text), bareWords(b.place.text)].sort();
  return {
    id: sha256Hex(JSON.stringify(words)).slice(0, 24),
    ...{ a: a.place, b: b.place },
    label: mixLabel(a.label, b.label),
    colour: mixColour(a.colour, b.colour),
  };
}

// What models have said of pairs of claims: kept, so that no pair is paid for twice.

/** Most pairs of one lint. */
const MAX_PAIRS = 400;
/** Verdicts of one model that are kept: the newest. */
const MAX_KEPT = 10 * MAX_PAIRS;
/** By the pair's id: why the two cannot both be right, or empty where they can. */
const Verdicts = z.record(z.string().regex(/^[0-9a-f]{24}$/), z.string().max(500));

/** A pair with what a model said of it. */
interface JudgedPair extends LikePair {
  /** Undefined while the model was not asked; empty where both can be right. */
  readonly why?: string;
}

/** Reads and keeps what one model says. */
interface JudgedPairs {
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
      return likeClaims(store, { clearance, limit: MAX_PAIRS }).map((pair) => {
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
      store.documents.put(name, Object.fromEntries([...all].slice(-MAX_KEPT)));
    },
  });
}
