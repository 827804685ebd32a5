/** What a run's answers say, source by source: the pieces that pages are made of. @module */
import type { WikiSource } from "../../contracts/mod.ts";
import { pageNameOf } from "../markdown/mod.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import { relationClaim } from "./check_extraction.ts";
import type { ExtractionV1 } from "./schema_v1.ts";
import type { StoredItem, WorkStore } from "./work_store.ts";

/** One statement of one source. */
export interface Piece {
  readonly source: WikiSource;
  readonly text: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Keys of the entities that it names. */
  readonly about: readonly string[];
}

/** What one source says of one thing. */
export interface Thing {
  readonly key: string;
  readonly name: string;
  readonly kind: "entity" | "concept";
  readonly aliases: readonly string[];
  readonly source: WikiSource;
  /** Whether the model asked for a page of it. */
  readonly wanted: boolean;
}

/** A page that a source contradicts. */
export interface Contradiction {
  readonly source: WikiSource;
  readonly page: string;
  readonly claim: string;
  readonly why: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** All that was taken of the sources that are answered whole. */
export interface Gathered {
  readonly sources: readonly WikiSource[];
  readonly pieces: readonly Piece[];
  /** `A is part of B`, with the lines that say so; each is about A. */
  readonly relations: readonly Piece[];
  readonly things: readonly Thing[];
  readonly contradictions: readonly Contradiction[];
  /** What did not hold of the answers, sentences. */
  readonly problems: readonly string[];
  /** Items of sources for which no answer had the form: to be asked again by the next run. */
  readonly failed: readonly string[];
}

/** The key under which sources speak of one thing. */
function thingKey(name: string): string {
  return pageNameOf(name);
}

function names(text: string, name: string): boolean {
  return name.length > 1 && text.toLowerCase().includes(name.toLowerCase());
}

function thingsOf(source: WikiSource, { entities, pages }: ExtractionV1): readonly Thing[] {
  const wanted = new Set(pages.map(({ title }) => thingKey(title)));
  return entities.map(({ name, kind, aliases }) => ({
    ...{ key: thingKey(name), name, aliases, source, wanted: wanted.has(thingKey(name)) },
    kind: kind === "concept" || kind === "other" ? "concept" : "entity",
  }));
}

function piecesOf(
  source: WikiSource,
  { claims }: ExtractionV1,
  things: readonly Thing[],
): readonly Piece[] {
  return claims.map(({ text, startLine, endLine }) => ({
    ...{ source, text, startLine, endLine },
    about: things
      .filter(({ name, aliases }) => [name, ...aliases].some((each) => names(text, each)))
      .map(({ key }) => key),
  }));
}

function relationsOf(source: WikiSource, { relations, claims }: ExtractionV1): readonly Piece[] {
  return relations.flatMap((relation) => {
    const claim = relationClaim(relation, claims);
    if (claim === undefined) return [];
    const { startLine, endLine } = claim;
    const text = `${relation.from} ${relation.kind} ${relation.to}`;
    return [{ source, text, startLine, endLine, about: [thingKey(relation.from)] }];
  });
}

/** Gathers what holds. A source with a part that is not answered yet is left for the next run. */
export function gather(
  store: WikiStore,
  work: WorkStore,
  items: readonly StoredItem[],
): Gathered {
  const bySource = Map.groupBy(items, ({ source }) => source);
  const sources: WikiSource[] = [];
  const pieces: Piece[] = [];
  const relations: Piece[] = [];
  const things: Thing[] = [];
  const contradictions: Contradiction[] = [];
  const problems: string[] = [];
  const again: string[] = [];
  for (const [id, parts] of bySource) {
    const source = store.sources.byId(id);
    const answers = parts.map((part) => work.answer(part.id));
    if (source === undefined || answers.some((answer) => answer?.done !== true)) continue;
    const failed = answers.every((answer) => answer?.extraction === undefined);
    if (failed) again.push(...parts.map((part) => part.id));
    else sources.push(source);
    const seen = new Set<string>();
    for (const [n, answer] of answers.entries()) {
      const [problem, ...more] = answer?.problems ?? [];
      if (problem !== undefined) {
        const rest = more.length === 0 ? "" : ` (and ${more.length} more)`;
        problems.push(`${source.text} lines ${parts[n]?.from}-${parts[n]?.to}: ${problem}${rest}`);
      }
      if (answer?.extraction === undefined) continue;
      const found = thingsOf(source, answer.extraction);
      things.push(...found);
      relations.push(...relationsOf(source, answer.extraction));
      for (const piece of piecesOf(source, answer.extraction, found)) {
        const key = piece.text.toLowerCase();
        if (!seen.has(key)) pieces.push(piece);
        seen.add(key);
      }
      for (const each of answer.extraction.contradictions) {
        contradictions.push({ source, ...each });
      }
    }
  }
  return { sources, pieces, relations, things, contradictions, problems, failed: again };
}
