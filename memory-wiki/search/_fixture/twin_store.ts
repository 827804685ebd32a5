/** A store in memory with the interface that the search needs: real FTS5, no files. For tests and tuning. @module */
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import {
  cleared,
  type Colour,
  type Digest,
  Digest as Digests,
  Label,
} from "../../../contracts/authority/mod.ts";
import {
  type PageName,
  PageName as PageNames,
  type WikiSource,
} from "../../../contracts/memory/mod.ts";
import type { Chunk, StoredPage } from "../../store/wiki_store.ts";
import type { SearchedStore } from "../passage.ts";
import { sectionsOf } from "../sections.ts";
import { termsOf } from "../terms.ts";

/** A page to add. */
export interface TwinPage {
  readonly name: string;
  readonly title?: string;
  readonly text: string;
  readonly label?: Label;
  readonly colour?: Colour;
  readonly citations?: StoredPage["citations"];
}

/** A source to add. */
export interface TwinSource {
  readonly key: string;
  readonly title?: string;
  readonly text: string;
  readonly label?: Label;
  readonly colour?: Colour;
  readonly expiresAt?: number;
}

/** The store, with functions that fill it. */
export interface TwinStore {
  readonly store: SearchedStore;
  putPage(page: TwinPage): StoredPage;
  dropPage(name: string): void;
  putSource(source: TwinSource): WikiSource;
  close(): void;
}

const LABELS = Label.options;
const AT = 1_700_000_000_000;

const digestOf = (text: string): Digest =>
  Digests.parse(createHash("sha256").update(text).digest("hex"));

export function makeTwinStore(): TwinStore {
  const db = new DatabaseSync(":memory:");
  for (const label of LABELS) {
    db.exec(
      `CREATE VIRTUAL TABLE ${label}_chunks USING fts5(terms, heading, content='', ` +
        `tokenize="ascii tokenchars '.-+#'");` +
        `CREATE VIRTUAL TABLE ${label}_words USING fts5vocab(${label}_chunks, row);`,
    );
  }
  const pages = new Map<string, StoredPage>();
  const texts = new Map<string, string>();
  const sources: WikiSource[] = [];
  const sourceLines = new Map<number, readonly string[]>();
  const chunks = new Map<number, Chunk>();
  const ofSource = new Map<number, Chunk[]>();
  const counts = new Map<Label, { chunks: number; terms: number }>();
  const vectors = new Map<string, Map<string, Float32Array>>();
  let generation = 0;

  const covered = (clearance: Label): readonly Label[] =>
    LABELS.filter((label) => cleared(label, clearance));
  const frequency = (label: Label, term: string): number => {
    const row = db.prepare(`SELECT doc FROM ${label}_words WHERE term = ?`).get(term);
    return Number(row?.["doc"] ?? 0);
  };
  const sourceOf = (id: number): WikiSource | undefined => sources.find((each) => each.id === id);

  const store = Object.freeze<SearchedStore>({
    generation: () => generation,
    sources: {
      byId: sourceOf,
      byDigest: (prefix: string) => sources.findLast((each) => each.digest.startsWith(prefix)),
      list: ({ clearance = "secret", state, afterId = 0, limit = Infinity }) =>
        sources.filter((each) =>
          each.id > afterId && cleared(each.label, clearance) &&
          (state === undefined || each.state === state)
        ).slice(0, limit),
      count: (clearance: Label) => {
        const seen = sources.filter((each) =>
          each.state === "current" && cleared(each.label, clearance)
        );
        const sum = seen.reduce((total, { id }) => total + (ofSource.get(id)?.length ?? 0), 0);
        return { sources: seen.length, chunks: sum };
      },
      chunksOf: (id: number) => ofSource.get(id) ?? [],
      passage: (chunk: Chunk) =>
        (sourceLines.get(chunk.source) ?? []).slice(chunk.startLine - 1, chunk.endLine).join("\n"),
    },
    chunks: {
      candidates: ({ match, clearance, limit }) =>
        covered(clearance).flatMap((label) =>
          db.prepare(
            `SELECT rowid, bm25(${label}_chunks, 1.0, 2.0) AS score FROM ${label}_chunks ` +
              `WHERE ${label}_chunks MATCH ? ORDER BY score LIMIT ?`,
          ).all(match, limit).flatMap((row) => {
            const chunk = chunks.get(Number(row["rowid"]));
            const source = chunk === undefined ? undefined : sourceOf(chunk.source);
            return chunk === undefined || source === undefined
              ? []
              : [{ chunk, source, bm25: Number(row["score"]) }];
          })
        ),
      statistics: (terms, clearance) => {
        const labels = covered(clearance);
        const sums = labels.map((label) => counts.get(label) ?? { chunks: 0, terms: 0 });
        const total = sums.reduce((sum, each) => sum + each.chunks, 0);
        const words = sums.reduce((sum, each) => sum + each.terms, 0);
        return {
          chunks: total,
          averageTerms: total === 0 ? 0 : words / total,
          frequency: new Map(
            terms.map((term) => [
              term,
              labels.reduce((sum, label) => sum + frequency(label, term), 0),
            ]),
          ),
        };
      },
    },
    pages: {
      find: (target: string) => pages.get(target),
      list: ({ clearance, after = "", limit = Infinity }) =>
        [...pages.values()].filter((page) => cleared(page.label, clearance) && page.name > after)
          .sort((a, b) => a.name < b.name ? -1 : 1).slice(0, limit),
      text: (name: PageName, version?: number) =>
        texts.get(`${name} ${version ?? pages.get(name)?.version}`),
    },
    vectors: {
      put(embedder, all) {
        const held = vectors.get(embedder) ?? new Map();
        vectors.set(embedder, held);
        for (const { key, vector } of all) held.set(key, vector);
      },
      get: (embedder, keys) =>
        new Map(keys.flatMap((key) => {
          const vector = vectors.get(embedder)?.get(key);
          return vector === undefined ? [] : [[key, vector]];
        })),
      missing: (embedder, clearance, limit) =>
        [...chunks.values()].filter((chunk) => {
          const source = sourceOf(chunk.source);
          return source?.state === "current" && cleared(source.label, clearance) &&
            vectors.get(embedder)?.has(`chunk:${chunk.id}`) !== true;
        }).slice(0, limit),
      count: (embedder) => vectors.get(embedder)?.size ?? 0,
    },
  });

  return Object.freeze<TwinStore>({
    store,
    putPage({ name, title = name, text, label = "internal", colour = "YELLOW", citations = [] }) {
      const version = (pages.get(name)?.version ?? 0) + 1;
      const page: StoredPage = {
        name: PageNames.parse(name),
        kind: "concept",
        title,
        aliases: [],
        version,
        digest: digestOf(text),
        bytes: text.length,
        lines: text.split("\n").length,
        label,
        colour,
        confidence: "medium",
        sources: [...new Set(citations.map((each) => each.source))],
        author: "operator",
        freshAt: AT,
        createdAt: AT,
        updatedAt: AT,
        claims: [],
        citations,
        links: [],
      };
      pages.set(name, page);
      texts.set(`${name} ${version}`, text);
      generation++;
      return page;
    },
    dropPage(name) {
      pages.delete(name);
      generation++;
    },
    putSource({ key, title = key, text, label = "internal", colour = "YELLOW", expiresAt }) {
      const digest = digestOf(text);
      const before = sources.findIndex((each) => each.key === key && each.state === "current");
      const old = sources[before];
      if (old !== undefined) sources[before] = { ...old, state: "superseded" };
      const file = `raw/${key.replace(/[^a-z0-9]+/gi, "-")}.${digest.slice(0, 12)}.md`;
      // As in the real store, each label has its own numbers: a secret source shifts no other.
      const nth = sources.filter((each) => each.label === label).length + 1;
      const id = nth * LABELS.length + LABELS.indexOf(label);
      const source: WikiSource = {
        ...{ id, key, version: (old?.version ?? 0) + 1, digest, textDigest: digest },
        ...{ kind: "markdown", title, raw: file, text: file, bytes: text.length },
        ...{ lines: text.split("\n").length, label, colour, owner: "operator" },
        provenance: { origin: key, by: "operator", retrievedAt: AT },
        state: "current",
        ingestedAt: AT,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
      sources.push(source);
      sourceLines.set(id, text.split("\n"));
      const titleTerms = termsOf(title).join(" ");
      const made = sectionsOf(text).map((section, n): Chunk => {
        const heading = section.headings.join(" > ");
        const terms = section.terms.split(" ");
        const number = id * 10_000 + n;
        db.prepare(`INSERT INTO ${label}_chunks(rowid, terms, heading) VALUES (?, ?, ?)`).run(
          number,
          section.terms,
          `${titleTerms} ${termsOf(heading).join(" ")}`,
        );
        const count = counts.get(label) ?? { chunks: 0, terms: 0 };
        counts.set(label, { chunks: count.chunks + 1, terms: count.terms + terms.length });
        const { startLine, endLine } = section;
        const chunk = { id: number, source: id, startLine, endLine, heading };
        const whole = { ...chunk, startByte: 0, endByte: 0 };
        chunks.set(number, whole);
        return whole;
      });
      ofSource.set(id, made);
      generation++;
      return source;
    },
    close: () => db.close(),
  });
}
