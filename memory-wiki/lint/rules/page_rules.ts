/** Rules about pages: duplicates, broken links, orphans, front matter, length. @module */
import { cleared } from "../../../contracts/authority/mod.ts";
import { Confidence, PageKind, PageName } from "../../../contracts/memory/mod.ts";
import { bareTitle, bareWords } from "../link_names.ts";
import type { MakeCheck } from "../rule.ts";

// Duplicate pages: a shared title or alias, or nearly the same text. Time grows with pages, not with pairs.

/** Minimum similarity of duplicates. */
const MIN_LIKENESS = 0.85;
/** Shorter texts may be equal by chance. */
const MIN_WORDS = 5;
/** Pages per band that a page is compared with. */
const MAX_PER_BAND = 3;

/** Rule `duplicatePage`: one finding per page, with the first page that it duplicates. */
export const checkDuplicatePage: MakeCheck = (view) => {
  const titles = new Map<string, { readonly name: PageName; readonly title: string }>();
  const bands = new Map<number, PageName[]>();
  const bodies = new Map<string, PageName>();
  const sketches = new Map<PageName, Sketch>();

  return {
    page({ page, file, read }) {
      const { name } = page;
      let first:
        | { readonly name: PageName; readonly why: string; readonly alias: boolean }
        | undefined;
      for (const [index, title] of [page.title, ...page.aliases].entries()) {
        const key = bareTitle(title);
        if (key === "") continue;
        const known = titles.get(key);
        if (known === undefined) titles.set(key, { name, title });
        else if (known.name !== name) {
          first ??= {
            name: known.name,
            why: `is called ${JSON.stringify(known.title)} as well`,
            alias: index > 0,
          };
        }
      }
      const own = bareWords(read.body.replaceAll(/\[\^[^\]\s]*\]:?|^#.*$/gmu, " "));
      const same = own.split(" ").length < MIN_WORDS ? undefined : bodies.get(own);
      if (same !== undefined) first ??= { name: same, why: "has the same text", alias: false };
      else bodies.set(own, name);
      const sketch = sketchOf(read.body);
      if (sketch !== undefined) {
        const keys = bandsOf(sketch);
        const near = nearest(sketch, keys);
        if (near !== undefined) {
          first ??= { name: near.name, why: `is ${near.percent} % the same text`, alias: false };
        }
        keep(name, sketch, keys);
      }
      if (first === undefined) return;
      view.tell({
        file,
        line: 1,
        message: `"${first.name}" ${first.why}.`,
        remedy: first.alias
          ? "Let one page have the alias with `remit wiki lint --fix`."
          : `Merge the two in \`remit wiki edit ${first.name}\`, and remove this page in \`remit wiki edit ${name}\`.`,
        fixable: first.alias,
        other: { file: `pages/${first.name}.md`, line: 1 },
      });
    },
  };

  function nearest(
    sketch: Sketch,
    keys: readonly number[],
  ): { readonly name: PageName; readonly percent: number } | undefined {
    let best: { readonly name: PageName; readonly percent: number } | undefined;
    const seen = new Set<PageName>();
    for (const band of keys) {
      for (const name of bands.get(band) ?? []) {
        const other = seen.has(name) ? undefined : sketches.get(name);
        seen.add(name);
        const alike = other === undefined ? 0 : likeness(sketch, other);
        const percent = Math.round(alike * 100);
        if (alike >= MIN_LIKENESS && percent > (best?.percent ?? 0)) best = { name, percent };
      }
    }
    return best;
  }

  function keep(name: PageName, sketch: Sketch, keys: readonly number[]): void {
    let kept = false;
    for (const band of keys) {
      const known = bands.getOrInsert(band, []);
      if (known.length === MAX_PER_BAND) continue;
      known.push(name);
      kept = true;
    }
    if (kept) sketches.set(name, sketch);
  }
};

// Links to missing pages. A warning, since a link to a page not yet written is how a wiki grows. A page above
// the clearance counts as missing, so that a finding does not reveal it.

/** Rule `brokenLink`: one finding per target and line. */
export const checkBrokenLink: MakeCheck = (view) => ({
  page({ page, file, read }) {
    const told = new Set<string>();
    for (const { target, line } of read.links) {
      if (view.names.find(target) !== undefined || told.has(`${line} ${target}`)) continue;
      told.add(`${line} ${target}`);
      const found = view.names.near(target);
      const near = found === page.name ? undefined : found; // a page has no use for a link to itself
      const label = near === undefined ? undefined : view.store.pages.get(near)?.label;
      // A page never comes to name a more confidential one.
      const fixable = label !== undefined && cleared(label, page.label);
      view.tell({
        file,
        line,
        message: near === undefined
          ? `No page is called ${JSON.stringify(target)}.`
          : `No page is called ${JSON.stringify(target)}; "${near}" is nearly that.`,
        remedy: fixable
          ? "Correct the link with `remit wiki lint --fix`."
          : PageName.safeParse(target).success
          ? `Write that page with \`remit wiki edit ${target}\`, or remove the link in \`remit wiki edit ${page.name}\`.`
          : `Correct or remove the link in \`remit wiki edit ${page.name}\`.`,
        fixable,
        ...(near === undefined ? {} : { other: { file: `pages/${near}.md` } }),
      });
    }
  },
});

// Pages without links from other pages. The index lists all and does not count. A summary is reachable
// through the source it cites. Links from pages above the clearance do not count.

/** Rule `orphanPage`. */
export const checkOrphanPage: MakeCheck = (view) => {
  const linked = new Set<PageName>();
  const pages: PageName[] = [];
  return {
    page({ page, read }) {
      if (page.kind !== "summary" || read.citations.length === 0) pages.push(page.name);
      for (const { target } of read.links) {
        const name = view.names.find(target);
        if (name !== undefined && name !== page.name) linked.add(name);
      }
    },
    end() {
      if (pages.length < 2) return; // a first page has nobody to link to it
      for (const name of pages) {
        if (linked.has(name)) continue;
        view.tell({
          file: `pages/${name}.md`,
          line: 1,
          message: "No other page links to this one.",
          remedy:
            `Write \`[[${name}]]\` where it belongs; \`remit wiki query\` shows which pages speak of it.`,
        });
      }
    },
  };
};

/** Rule `frontMatter`. `LintOptions.problems` reports files that were not imported at all. */
export const checkFrontMatter: MakeCheck = (view) => ({
  page({ page, file, read }) {
    const { kind, confidence, problems } = read.front;
    const unknown = [
      ...(kind === undefined || PageKind.safeParse(kind).success ? [] : [
        `The front matter's kind ${JSON.stringify(kind.slice(0, 60))} is none: ${
          PageKind.options.join(", ")
        }.`,
      ]),
      ...(confidence === undefined || Confidence.safeParse(confidence).success ? [] : [
        `The front matter's confidence ${JSON.stringify(confidence.slice(0, 60))} is none: ${
          Confidence.options.join(", ")
        }.`,
      ]),
    ];
    for (const problem of [...problems, ...unknown]) {
      view.tell({
        file,
        line: 1,
        message: problem,
        remedy:
          `Have it written anew with \`remit wiki lint --fix\`, or mend it in \`remit wiki edit ${page.name}\`.`,
        fixable: true,
      });
    }
  },
});

// Pages too long to read, or to hand to an agent, in one piece.

const MAX_LINES = 400;
const MAX_BYTES = 40 * 1024;

/** Rule `longPage`. */
export const checkLongPage: MakeCheck = (view) => ({
  page({ page, file }) {
    if (page.lines <= MAX_LINES && page.bytes <= MAX_BYTES) return;
    view.tell({
      file,
      line: Math.min(page.lines, MAX_LINES),
      message: page.lines > MAX_LINES
        ? `This page has ${page.lines} lines; ${MAX_LINES} are enough for one.`
        : `This page has ${Math.ceil(page.bytes / 1024)} KB; ${
          MAX_BYTES / 1024
        } are enough for one.`,
      remedy:
        `Divide it in \`remit wiki edit ${page.name}\`: a page a thing, with links between them.`,
    });
  },
});

// Near-duplicate detection: one-permutation MinHash over word shingles. One hash per word; a sketch has 512 bytes.

/** Words per shingle. */
const SHINGLE_WORDS = 4;
const BINS = 128;
/** Bins per band: texts of similarity 0.85 or more share at least one of 16 bands in 99 of 100 cases. */
const ROWS = 8;
/** Shorter texts have no sketch. */
const MIN_SKETCH_WORDS = 40;
const EMPTY = 0xffff_ffff;

type Sketch = Uint32Array;

function hashWord(word: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < word.length; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x0100_0193);
  }
  return hash >>> 0;
}

function mix(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x7feb_352d);
  value = Math.imul(value ^ (value >>> 15), 0x846c_a68b);
  return (value ^ (value >>> 16)) >>> 0;
}

/** The sketch of a text without footnotes and case; undefined for a short text. */
function sketchOf(text: string): Sketch | undefined {
  const words = text.replaceAll(/^\[\^[^\n]*$/gmu, "").replaceAll(/\[\^[^\]\s]*\]/gu, "")
    .toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < MIN_SKETCH_WORDS) return undefined;
  const sketch = new Uint32Array(BINS).fill(EMPTY);
  const hashes = words.map(hashWord);
  for (let at = 0; at + SHINGLE_WORDS <= hashes.length; at += 1) {
    let hash = 0;
    for (let next = 0; next < SHINGLE_WORDS; next += 1) {
      hash = mix((Math.imul(hash, 31) + (hashes[at + next] ?? 0)) >>> 0);
    }
    const bin = hash % BINS;
    const value = Math.floor(hash / BINS);
    if (value < (sketch[bin] ?? EMPTY)) sketch[bin] = value;
  }
  return sketch;
}

/** Similarity from 0 to 1: the share of equal bins among non-empty ones. */
function likeness(a: Sketch, b: Sketch): number {
  let [same, filled] = [0, 0];
  for (let bin = 0; bin < BINS; bin += 1) {
    if (a[bin] === EMPTY && b[bin] === EMPTY) continue;
    filled += 1;
    if (a[bin] === b[bin]) same += 1;
  }
  return filled === 0 ? 0 : same / filled;
}

/** Keys of a sketch's bands: similar texts share one. An empty bin takes the value of the next filled one. */
function bandsOf(sketch: Sketch): readonly number[] {
  const keys: number[] = [];
  let hash = 0;
  for (let bin = 0; bin < BINS; bin += 1) {
    let from = bin;
    while (sketch[from % BINS] === EMPTY && from < bin + BINS) from += 1;
    hash = mix((Math.imul(hash, 31) + (sketch[from % BINS] ?? EMPTY) + (from - bin)) >>> 0);
    if (bin % ROWS !== ROWS - 1) continue;
    keys.push(bin * 2 ** 32 + hash);
    hash = 0;
  }
  return keys;
}
