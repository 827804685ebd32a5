/**
 * Finds pairs of claims about the same thing that differ in words or figures, for a model to compare where
 * rules see too little. Used by memory-wiki/ops/lint_ops.ts.
 * @module
 */
import * as z from "zod";
import { type Label } from "../../contracts/authority/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { WikiDocuments } from "../store/wiki_store.ts";
import { stemOf } from "../search/stem.ts";
import { tokensOf } from "./facts/tokens.ts";
import { NEGATIONS, STOP } from "./facts/vocabulary.ts";
import { bareWords } from "./link_names.ts";
import { type LintedPage, lintedPages, type ListedPages } from "./rule.ts";
import { mixTrust, type Trust } from "../store/trust_rules.ts";

/** A claim and its place. */
export interface ClaimPlace {
  /** `pages/NAME.md` */
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Two claims that may contradict each other, with the combined trust of both pages. */
export interface LikePair extends Trust {
  /** Digest of both texts, wherever they are: 24 hex characters. */
  readonly id: string;
  readonly a: ClaimPlace;
  readonly b: ClaimPlace;
}

/** A claim prepared for comparison. */
interface Told extends Trust {
  readonly place: ClaimPlace;
  /** Its citations: digests and lines. */
  readonly rests: string;
  readonly stems: readonly string[];
}

/** Words in more claims do not show what a claim is about. */
const MAX_HOLDING = 48;
/** A claim is compared with the claims of its rarest words, so the work grows with claims, not with pairs. */
const RAREST_WORDS = 6;
/** Minimum number of shared words, and minimum share of their weight. */
const MIN_SHARED = 2;
const MIN_ALIKE = 0.35;
const MAX_TEXT = 500;

/** The most similar pairs within `clearance`, at most `limit`, most similar first. */
export function likeClaims(
  store: ListedPages,
  { clearance, limit }: { readonly clearance: Label; readonly limit: number },
): readonly LikePair[] {
  const told = distinctClaims(store, clearance);
  const holding = new Map<string, number[]>();
  for (const [n, { stems }] of told.entries()) {
    for (const word of stems) holding.getOrInsert(word, []).push(n);
  }
  const held = (word: string): number => holding.get(word)?.length ?? 0;
  const weightOf = (words: readonly string[]): number =>
    words.reduce((sum, word) => sum + Math.log(1 + told.length / Math.max(1, held(word))), 0);
  const weights = told.map(({ stems }) => weightOf(stems));

  const found: { readonly a: Told; readonly b: Told; readonly alike: number }[] = [];
  for (const [n, a] of told.entries()) {
    const words = new Set(a.stems);
    const rarest = a.stems.filter((word) => held(word) <= MAX_HOLDING)
      .toSorted((x, y) => held(x) - held(y)).slice(0, RAREST_WORDS);
    const near = new Set(rarest.flatMap((word) => holding.get(word) ?? []));
    for (const m of near) {
      const b = told[m];
      // Claims on the same lines were compared by their author.
      if (m <= n || b === undefined || (a.rests !== "" && a.rests === b.rests)) continue;
      const shared = b.stems.filter((word) => words.has(word));
      if (shared.length < MIN_SHARED) continue;
      const alike = weightOf(shared) / Math.sqrt((weights[n] ?? 1) * (weights[m] ?? 1));
      if (alike >= MIN_ALIKE) found.push({ a, b, alike });
    }
  }
  return found.sort((x, y) => y.alike - x.alike).slice(0, limit).map(({ a, b }) => pairOf(a, b));
}

/** The claims of all pages without duplicates: a sentence may be on many pages. */
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
    if (stems.length <= MIN_SHARED) continue;
    yield {
      place: { file, line, text: text.slice(0, MAX_TEXT).toWellFormed() },
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
    ...mixTrust(a, b),
  };
}

// Verdicts of models on pairs of claims, stored so that no pair is paid for twice.

/** Pairs per lint. */
const MAX_PAIRS = 400;
/** Stored verdicts per model: the newest. */
const MAX_KEPT = 10 * MAX_PAIRS;
/** By pair id: why both cannot be right; empty if they can. */
const Verdicts = z.record(z.string().regex(/^[0-9a-f]{24}$/), z.string().max(500));

/** A pair with a model's verdict. */
interface JudgedPair extends LikePair {
  /** Undefined before the model is asked; empty if both can be right. */
  readonly why?: string;
}

/** Verdicts of one model. */
interface JudgedPairs {
  /** The current pairs on pages within `clearance`. */
  list(clearance: Label): readonly JudgedPair[];
  keep(verdicts: readonly { readonly id: string; readonly why: string }[]): void;
}

/** Stores verdicts among the wiki's documents. */
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
