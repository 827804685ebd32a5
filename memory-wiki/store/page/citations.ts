/** Citations of a page, looked up: which source, do its lines exist, and what they are. @module */
import type { Digest } from "../../../contracts/authority/mod.ts";
import type { Citation, WikiSource } from "../../../contracts/memory/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { ReadPage } from "../../markdown/page_text.ts";
import { sourceOf } from "../_source_rows.ts";
import { type Inside, recordedTrust } from "../inside.ts";
import { mixTrust, type Trust } from "../trust_rules.ts";

type Written = ReadPage["citations"][number];

/** Most of a cited span, bytes. */
export const SPAN_BYTES = 4_194_304;

/** What became of a page's citations. */
export interface LookedUp {
  readonly citations: readonly Citation[];
  /** Raw digests that are cited, each once. */
  readonly sources: readonly Digest[];
  /** Of every cited source. */
  readonly cited: readonly Trust[];
  readonly unresolved: readonly { readonly citation: Written; readonly why: string }[];
}

/** What makes two written citations one. */
export function citationKey({ file, digestPrefix, startLine, endLine }: Written): string {
  return `${file} ${digestPrefix} ${startLine}-${endLine}`;
}

/** Texts that are kept while one piece of work goes on, each and together, characters. */
const [WHOLE, KEPT] = [300_000, 16_000_000];

/** What was looked up already: good for one piece of work, within which nothing changes. */
export interface KnownSources {
  readonly sources: Map<string, CitedSource | undefined>;
  /** Lines of texts that are cited more than once; undefined where they are too long to be kept. */
  readonly lines: Map<string, readonly string[] | undefined>;
  /** Characters of {@link KnownSources.lines}. */
  kept: number;
}

/** Nothing was looked up yet. */
export function makeKnownSources(): KnownSources {
  return { sources: new Map(), lines: new Map(), kept: 0 };
}

/** Looks up each citation. */
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

/** A source that is cited. */
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

/** All lines of a text that is not long; undefined of a longer one. */
function linesOf(
  { lines }: Inside,
  source: WikiSource,
  known: KnownSources,
): readonly string[] | undefined {
  const { text: path } = source;
  if (known.lines.has(path)) return known.lines.get(path);
  // UTF-8 has at most three bytes for a character, so that what fits was not cut.
  const whole = lines.lines(textFile(source), 1, source.lines, WHOLE * 3 + 4);
  if (known.kept + whole.length > KEPT) {
    known.lines.clear();
    known.kept = 0;
  }
  const all = whole.length > WHOLE ? undefined : whole.split("\n");
  const kept = all?.length === source.lines ? all : undefined;
  known.kept += kept === undefined ? 0 : whole.length;
  known.lines.set(path, kept);
  return kept;
}
