/** Reading: the catalogue, lines of pages and sources, citations, pages with history, queries and their vectors. @module */
import * as z from "zod";
import { cleared, Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { type Page, TEXT_KINDS } from "../../contracts/memory/mod.ts";
import {
  type CiteAnswer,
  type IndexRow,
  type ReadLines,
  WikiQuery,
} from "../../contracts/wire/mod.ts";
import { aboutOf, citeSource, readPage } from "../markdown/mod.ts";
import type { StoredPage, WikiStore } from "../store/wiki_store.ts";
import { type Op, reading, statusOf, writing } from "./op.ts";
import {
  namesSource,
  notThere,
  unifiedDiff,
  visibleHistory,
  visiblePage,
  visibleSource,
} from "./visible.ts";

/** Bytes of one answer. */
const MAX_BYTES = 65_536;
const LINES = 200;
const ROWS = 200;
/** Lines of one citation. */
const CITED_LINES = 200;

const Line = z.int().min(1).max(100_000_000);
const Name = z.string().min(1).max(300);

function linesOfPage(store: WikiStore, page: StoredPage, body: ReadBody): ReadLines {
  const { clearance, version = page.version } = body;
  const entry = version === page.version
    ? { digest: page.digest, colour: page.colour, label: page.label }
    : visibleHistory(store, page, clearance).find((each) => each.version === version);
  const text = entry === undefined ? undefined : store.pages.text(page.name, version);
  if (entry === undefined || text === undefined) throw notThere(`${body.name}@${version}`);
  const all = text.replace(/\n$/, "").split("\n");
  const cut = withinBytes(all.slice(body.from - 1, body.from - 1 + body.lines));
  return {
    file: `pages/${page.name}.md`,
    from: body.from,
    to: body.from - 1 + cut.length,
    of: all.length,
    text: cut.join("\n"),
    digest: entry.digest,
    colour: entry.colour,
    label: entry.label,
    name: page.name,
    version,
  };
}

function withinBytes(lines: readonly string[]): readonly string[] {
  const encoder = new TextEncoder();
  let left = MAX_BYTES;
  const taken: string[] = [];
  for (const line of lines) {
    const bytes = encoder.encode(line);
    if (bytes.length + 1 > left) {
      // A single line longer than an answer is cut.
      if (taken.length === 0) taken.push(new TextDecoder().decode(bytes.subarray(0, left - 4)));
      break;
    }
    left -= bytes.length + 1;
    taken.push(line);
  }
  return taken;
}

function linesOfSource(store: WikiStore, body: ReadBody): ReadLines {
  const source = visibleSource(store, body.name, body.clearance);
  const to = Math.min(source.lines, body.from - 1 + body.lines);
  const text = to < body.from ? "" : store.sources.lines(source, body.from, to, MAX_BYTES);
  const count = to < body.from ? 0 : text.split("\n").length;
  return {
    file: source.text,
    from: body.from,
    to: body.from - 1 + count,
    of: source.lines,
    text,
    digest: source.digest,
    colour: source.colour,
    label: source.label,
  };
}

const ReadBody = z.object({
  clearance: Label,
  name: Name,
  from: Line.default(1),
  lines: z.int().min(1).max(10_000).default(LINES),
  version: z.int().min(1).optional(),
}).strict();
type ReadBody = z.infer<typeof ReadBody>;

function rowOf(store: WikiStore, page: Page): IndexRow {
  const { name, title, kind, colour, label } = page;
  return {
    ...{ name, title, kind, colour, label },
    about: aboutOf(readPage(store.pages.text(name) ?? "").body),
    stale: isStale(store, page),
  };
}

/** Reading of pages and sources, for tools and the command line. */
export const READ_OPS: Readonly<Record<string, Op>> = {
  index: reading({
    body: z.object({
      clearance: Label,
      after: Name.optional(),
      limit: z.int().min(1).max(10_000).default(ROWS),
    }).strict(),
    run: ({ store }, { clearance, after, limit }) =>
      store.pages.list({ clearance, limit, ...(after === undefined ? {} : { after }) })
        .map((page) => rowOf(store, page)),
  }),

  sources: reading({
    body: z.object({
      clearance: Label,
      afterId: z.int().min(0).default(0),
      limit: z.int().min(1).max(10_000).default(ROWS),
    }).strict(),
    run: ({ store }, query) => store.sources.list(query),
  }),

  read: reading({
    body: ReadBody,
    run: ({ store }, body) =>
      namesSource(body.name)
        ? linesOfSource(store, body)
        : linesOfPage(store, visiblePage(store, body.name, body.clearance), body),
  }),

  cite: reading({
    body: z.object({ clearance: Label, file: Name, startLine: Line, endLine: Line }).strict(),
    run: ({ store }, { clearance, file, startLine, endLine }): CiteAnswer => {
      const source = visibleSource(store, file, clearance);
      if (endLine < startLine || endLine - startLine >= CITED_LINES || endLine > source.lines) {
        throw new Fault(
          "invalidInput",
          `Cannot cite lines ${startLine}-${endLine} of ${JSON.stringify(file)}: ` +
            `it has ${source.lines} lines, and one citation names at most ${CITED_LINES}`,
        );
      }
      const text = store.sources.lines(source, startLine, endLine);
      return {
        definition: citeSource("N", { source, startLine, endLine }),
        citation: {
          note: "N",
          source: source.digest,
          ...{ startLine, endLine },
          span: store.sources.span(source, startLine, endLine),
        },
        text: text.slice(0, MAX_BYTES),
        colour: source.colour,
        label: source.label,
      };
    },
  }),

  page: reading({
    body: z.object({ clearance: Label, name: Name }).strict(),
    run: ({ store }, { clearance, name }) => {
      const stored = visiblePage(store, name, clearance);
      const { claims: _claims, citations, links: _links, ...page } = stored;
      const seen = (names: readonly Page["name"][]): readonly string[] =>
        names.filter((each) => cleared(store.pages.get(each)?.label ?? "secret", clearance));
      return {
        page,
        history: visibleHistory(store, stored, clearance),
        backlinks: seen(store.pages.backlinks(page.name)),
        citing: [...new Set(citations.map(({ source }) => source))].flatMap((digest) => {
          const source = store.sources.byDigest(digest);
          if (source === undefined || !cleared(source.label, clearance)) return [];
          const { text: file, title, state, version } = source;
          return [{ digest, file, title, state, version, text: TEXT_KINDS.has(source.kind) }];
        }),
      };
    },
  }),

  diff: reading({
    body: z.object({
      name: Name,
      from: z.int().min(0),
      to: z.int().min(1),
      clearance: Label.default("secret"),
    }).strict(),
    run: ({ store }, { name, from, to, clearance }) => {
      const page = visiblePage(store, name, clearance);
      const versions = new Set(visibleHistory(store, page, clearance).map((each) => each.version));
      const textOf = (version: number): string | undefined => {
        if (version === 0) return undefined;
        const text = versions.has(version) ? store.pages.text(page.name, version) : undefined;
        if (text === undefined) throw notThere(`${name}@${version}`);
        return text;
      };
      return { diff: unifiedDiff(`pages/${page.name}.md`, textOf(from), textOf(to)) };
    },
  }),
};

/** Whether a source that the page cites was superseded, removed or is missing. */
function isStale(store: WikiStore, page: Pick<Page, "sources">): boolean {
  return page.sources.some((digest) => store.sources.byDigest(digest)?.state !== "current");
}

// Queries, and the vectors that improve them.

const Embedder = z.string().min(1).max(256);
/** A slower query has indexed something. Milliseconds. */
const SLOW_MS = 250;
/** Dimensions of a vector. */
const MAX_DIMENSIONS = 4_096;

/** An array of numbers, or base64 of little-endian Float32. */
const Vector = z.union([
  z.array(z.number()).min(1).max(MAX_DIMENSIONS),
  z.base64().min(4).max(MAX_DIMENSIONS * 6),
]);

function numbersOf(vector: z.infer<typeof Vector>): readonly number[] {
  if (typeof vector !== "string") return vector;
  const bytes = Uint8Array.fromBase64(vector);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length / 4;
  const numbers = Array.from({ length: Math.floor(count) }, (_, n) => view.getFloat32(n * 4, true));
  if (numbers.length !== count || !numbers.every(Number.isFinite)) {
    throw new Fault("invalidInput", "Cannot take a vector: not whole numbers of four bytes");
  }
  return numbers;
}

/** See the table in contracts/wire/wire_wiki.ts. */
export const QUERY_OPS: Readonly<Record<string, Op>> = {
  query: reading({
    body: WikiQuery,
    run: async ({ search, powers, readOnly }, query) => {
      const began = powers.now();
      const found = await search.query(query);
      // Expensive indexing is stored for the next process; small changes are indexed again.
      if (!readOnly && powers.now() - began > SLOW_MS) await search.save();
      return found;
    },
  }),

  embedPlan: reading({
    body: z.object({
      embedder: Embedder,
      limit: z.int().min(1).max(10_000),
      clearance: Label.default("secret"),
    }).strict(),
    run: ({ search }, { embedder, limit, clearance }) =>
      search.embedPlan(embedder, limit, clearance),
  }),

  embedTaken: writing({
    body: z.object({
      embedder: Embedder,
      vectors: z.array(z.object({ key: z.string().min(1).max(400), vector: Vector }).strict())
        .max(10_000),
    }).strict(),
    run: ({ search }, { embedder, vectors }) => {
      const all = vectors.map(({ key, vector }) => ({ key, vector: numbersOf(vector) }));
      search.embedTaken(embedder, all);
      return null;
    },
  }),

  status: reading({ body: z.null(), run: (wiki) => statusOf(wiki) }),

  reindex: writing({
    body: z.null(),
    run: async (wiki) => {
      await wiki.search.rebuild();
      await wiki.search.save();
      return statusOf(wiki);
    },
  }),
};
