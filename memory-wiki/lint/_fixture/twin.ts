import { createHash } from "node:crypto";
import { cleared, type Colour, Digest, type Label } from "../../../contracts/authority/mod.ts";
import {
  type Page,
  type PageKind,
  PageName,
  type PagePatch,
  type SourceKind,
  type WikiSource,
} from "../../../contracts/memory/mod.ts";
import { citationLine } from "../../markdown/citation_line.ts";
import { linkKey, readPage, writePage } from "../../markdown/mod.ts";
import type { StoredPage } from "../../store/wiki_store.ts";
import type { LintedStore } from "../rule.ts";

/** A wiki in memory, written directly: the lint sees pages and sources that the real store would refuse. */

/** SHA-256 of a text's UTF-8 bytes. */
export function digestOf(text: string): Digest {
  return Digest.parse(createHash("sha256").update(text).digest("hex"));
}

/** Fields of a page that a test sets; the rest have defaults. */
export type TwinPage =
  & { readonly front?: string; readonly onDisk?: string | undefined }
  & Partial<
    Pick<
      Page,
      | "kind"
      | "title"
      | "aliases"
      | "label"
      | "colour"
      | "author"
      | "freshAt"
      | "reviewed"
      | "version"
    >
  >;

/** Fields of a source that a test sets. */
export type TwinSource = Partial<
  Pick<WikiSource, "label" | "colour" | "expiresAt" | "kind" | "title">
>;

/** The twin, with functions that fill it. */
export interface Twin extends LintedStore {
  readonly sources: LintedStore["sources"] & {
    recordExport(digest: Digest, colour: Colour, label: Label): void;
    readonly exported: Map<string, { readonly colour: Colour; readonly label: Label }>;
  };
  readonly pages: LintedStore["pages"] & { backlinks(name: PageName): readonly PageName[] };
  /** Makes or replaces a page; `body` follows the front matter. */
  page(name: string, body: string, more?: TwinPage): void;
  /** Adds a version of a source: the previous version is superseded. */
  source(name: string, text: string, more?: TwinSource): WikiSource;
  /** Marks a source as removed. */
  gone(name: string): void;
  /** Overwrites a source's raw bytes. */
  alter(source: WikiSource): void;
  /** A footnote's definition for lines of a source. */
  note(note: string, source: WikiSource, startLine: number, endLine?: number): string;
  /** Lists a patch as proposed. */
  propose(patch: PagePatch): void;
  breakLog(why: string): void;
}

/** A moment: 2026-06-01. */
export const NOW = 1_780_272_000_000;

export function makeTwin(): Twin {
  const pages = new Map<
    string,
    { readonly page: StoredPage; readonly text: string; onDisk: string | undefined }
  >();
  const sources: WikiSource[] = [];
  const texts = new Map<number, string>();
  const altered = new Set<number>();
  const exported = new Map<string, { colour: Colour; label: Label }>();
  const proposed: PagePatch[] = [];
  let broken: string | undefined;

  const rank = { current: 0, superseded: 1, removed: 2 };
  const byDigest = (prefix: string): WikiSource | undefined =>
    sources.filter(({ digest }) => digest.startsWith(prefix))
      .sort((a, b) => rank[a.state] - rank[b.state] || b.id - a.id)[0];
  const change = (source: WikiSource, state: WikiSource["state"]): void => {
    sources[source.id - 1] = Object.freeze({ ...source, state });
  };
  const find = (target: string): StoredPage | undefined =>
    pages.get(target)?.page ??
      [...pages.values()].find(({ page }) =>
        [page.name, page.title, ...page.aliases].some((one) => linkKey(one) === linkKey(target))
      )?.page;

  return {
    sources: {
      exported,
      current: (key) => sources.findLast((one) => one.key === key && one.state === "current"),
      byDigest,
      list: ({ clearance = "secret", state, afterId = 0, limit = 1_000 }) =>
        sources.filter((one) =>
          one.id > afterId && cleared(one.label, clearance) &&
          (state === undefined || one.state === state)
        ).slice(0, limit),
      lines: (source, from, to) =>
        (texts.get(source.id) ?? "").split("\n").slice(from - 1, to).join("\n"),
      intact: (source) => Promise.resolve(!altered.has(source.id)),
      recordExport: (digest, colour, label) => void exported.set(digest, { colour, label }),
    },
    pages: {
      get: (name) => pages.get(name)?.page,
      find,
      list: ({ clearance, after = "", limit = 1_000 }) =>
        [...pages.values()].map(({ page }) => page)
          .filter(({ name, label }) => name > after && cleared(label, clearance))
          .sort((a, b) => a.name < b.name ? -1 : 1).slice(0, limit),
      text: (name) => pages.get(name)?.text,
      onDisk: (name) => pages.get(name)?.onDisk,
      citing: (digest) =>
        [...pages.values()].filter(({ page }) => page.sources.includes(digest))
          .map(({ page }) => page.name),
      backlinks: (name) =>
        [...pages.values()].filter(({ page }) =>
          page.links.some(({ target }) => find(target)?.name === name)
        ).map(({ page }) => page.name),
    },
    patches: { list: () => proposed },
    log: { verify: () => broken },
    page(name, body, more = {}) {
      const { front, onDisk, ...rest } = more;
      const kind: PageKind = "concept";
      const bare: Page = {
        name: PageName.parse(name),
        kind,
        title: name,
        aliases: [],
        version: 1,
        digest: digestOf(""),
        bytes: 0,
        lines: 0,
        label: "internal",
        colour: "YELLOW",
        confidence: "medium",
        sources: [],
        author: "operator",
        freshAt: NOW,
        createdAt: NOW,
        updatedAt: NOW,
        ...rest,
      };
      const text = front === undefined ? writePage(bare, body) : front + body;
      const read = readPage(text);
      pages.set(name, {
        text,
        onDisk: "onDisk" in more ? onDisk : text,
        page: Object.freeze({
          ...bare,
          digest: digestOf(text),
          bytes: new TextEncoder().encode(text).length,
          lines: text.split("\n").length,
          sources: [
            ...new Set(read.citations.flatMap(({ digestPrefix }) => {
              const digest = byDigest(digestPrefix)?.digest;
              return digest === undefined ? [] : [digest];
            })),
          ],
          claims: read.claims,
          links: read.links,
          citations: [],
        }),
      });
    },
    source(name, text, more = {}) {
      const before = sources.findLast(({ key }) => key === `file:/docs/${name}`);
      if (before?.state === "current") change(before, "superseded");
      const digest = digestOf(text);
      const kind: SourceKind = "markdown";
      const dot = name.lastIndexOf(".");
      const raw = `raw/${name.slice(0, dot)}.${digest.slice(0, 12)}${name.slice(dot)}`;
      const source: WikiSource = Object.freeze({
        id: sources.length + 1,
        key: `file:/docs/${name}`,
        version: (before?.version ?? 0) + 1,
        digest,
        textDigest: digest,
        kind,
        title: name,
        raw,
        text: raw,
        bytes: new TextEncoder().encode(text).length,
        lines: text.split("\n").length,
        label: "internal",
        colour: "YELLOW",
        owner: "operator",
        provenance: { origin: `/docs/${name}`, by: "operator", retrievedAt: NOW },
        state: "current",
        ingestedAt: NOW,
        ...more,
      });
      sources.push(source);
      texts.set(source.id, text);
      return source;
    },
    gone(name) {
      const source = sources.findLast(({ key }) => key === `file:/docs/${name}`);
      if (source !== undefined) change(source, "removed");
    },
    alter: (source) => void altered.add(source.id),
    note: (note, source, startLine, endLine = startLine) =>
      citationLine({
        note,
        file: source.text,
        shown: source.title,
        digest: source.digest,
        startLine,
        endLine,
      }),
    propose: (patch) => void proposed.push(patch),
    breakLog(why) {
      broken = why;
    },
  };
}
