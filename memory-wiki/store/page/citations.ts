/** Resolves a page's citations to sources and lines. @module */
import type { Digest } from "../../../contracts/authority/mod.ts";
import type { Citation, WikiSource } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { ReadPage } from "../../markdown/page_text.ts";
import { sourceOf } from "../_source_rows.ts";
import { type Inside, recordedTrust } from "../inside.ts";
import { mixTrust, type Trust } from "../trust_rules.ts";

type Written = ReadPage["citations"][number];

/** Bytes of a cited span. */
export const SPAN_BYTES = 4_194_304;

/** Resolved citations of a page. */
export interface LookedUp {
  readonly citations: readonly Citation[];
  /** Digests of the cited sources, without duplicates. */
  readonly sources: readonly Digest[];
  /** Trust of every cited source. */
  readonly cited: readonly Trust[];
  readonly unresolved: readonly { readonly citation: Written; readonly why: string }[];
}

/** Key by which written citations are equal. */
export function citationKey({ file, digestPrefix, startLine, endLine }: Written): string {
  return `${file} ${digestPrefix} ${startLine}-${endLine}`;
}

/** Characters of cached texts, per text and in total. */
const [MAX_CACHED_TEXT, MAX_CACHED] = [300_000, 16_000_000];

/** A cache for one operation, during which nothing changes. */
export interface KnownSources {
  readonly sources: Map<string, CitedSource | undefined>;
  /** Lines of texts cited more than once; undefined for texts too long to cache. */
  readonly lines: Map<string, readonly string[] | undefined>;
  /** Total characters in `lines`. */
  kept: number;
}

/** Makes an empty cache. */
export function makeKnownSources(): KnownSources {
  return { sources: new Map(), lines: new Map(), kept: 0 };
}

/** Resolves each citation. */
export function lookUpCitations(
  inside: Inside,
  written: readonly Written[],
  known: KnownSources = makeKnownSources(),
): LookedUp {
  const citations: Citation[] = [];
  const trusts = new Map<Digest, Trust>();
  const unresolved: { citation: Written; why: string }[] = [];
  for (const citation of written) {
    const found = lookUp(inside, citation, known);
    if ("why" in found) unresolved.push({ citation, why: found.why });
    else {
      citations.push(found.citation);
      trusts.set(found.citation.source, found.trust);
    }
  }
  return {
    citations,
    sources: [...trusts.keys()].sort(),
    cited: [...trusts.values()],
    unresolved,
  };
}

/** A cited source. */
export interface CitedSource {
  readonly source: WikiSource;
  readonly trust: Trust;
}

function findSource({ db }: Inside, file: string, digestPrefix: string): CitedSource | undefined {
  const row = db.get(
    "SELECT * FROM sources WHERE text = ? AND digest >= ? AND digest < ? ORDER BY state, label DESC LIMIT 1",
    file,
    digestPrefix,
    `${digestPrefix}g`,
  );
  if (row === undefined) return undefined;
  const source = sourceOf(row);
  const recorded = recordedTrust(db, source.digest);
  return { source, trust: recorded === undefined ? mixTrust(source) : mixTrust(source, recorded) };
}

function lookUp(
  inside: Inside,
  { note, file, digestPrefix, startLine, endLine }: Written,
  known: KnownSources,
): { readonly citation: Citation; readonly trust: Trust } | { readonly why: string } {
  const key = `${digestPrefix} ${file}`;
  const again = known.sources.has(key);
  const found = again ? known.sources.get(key) : findSource(inside, file, digestPrefix);
  known.sources.set(key, found);
  if (found === undefined) return { why: `no source is "${file}" of sha256:${digestPrefix}` };
  const { source, trust } = found;
  if (startLine < 1 || endLine < startLine || endLine > source.lines) {
    return { why: `"${file}" has ${source.lines} lines` };
  }
  const all = again ? linesOf(inside, source, known) : undefined;
  const text = all?.slice(startLine - 1, endLine).join("\n") ??
    inside.lines.lines(textFile(source), startLine, endLine, SPAN_BYTES);
  const span = sha256Hex(text);
  const citation = Object.freeze({ note, source: source.digest, startLine, endLine, span });
  return { citation, trust };
}

const textFile = ({ text, textDigest }: WikiSource) => ({ path: text, digest: textDigest });

/** All lines of a short text; undefined for a longer one. */
function linesOf(
  { lines }: Inside,
  source: WikiSource,
  known: KnownSources,
): readonly string[] | undefined {
  const { text: path } = source;
  if (known.lines.has(path)) return known.lines.get(path);
  // UTF-8 has at most three bytes per UTF-16 unit, so a text within the limit is complete.
  const whole = lines.lines(textFile(source), 1, source.lines, MAX_CACHED_TEXT * 3 + 4);
  if (known.kept + whole.length > MAX_CACHED) {
    known.lines.clear();
    known.kept = 0;
  }
  const all = whole.length > MAX_CACHED_TEXT ? undefined : whole.split("\n");
  const kept = all?.length === source.lines ? all : undefined;
  known.kept += kept === undefined ? 0 : whole.length;
  known.lines.set(path, kept);
  return kept;
}
