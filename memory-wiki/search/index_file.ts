/**
 * The file format of a stored page index: a directory, then a block per page, then blocks of sorted words. A
 * query reads the directory and a few blocks; a block with a wrong checksum is rejected.
 * @module
 */
import { createHash } from "node:crypto";
import type { Label } from "../../contracts/authority/mod.ts";
import { FIELDS, makeWordTable, type Postings } from "./page_words.ts";

/** An indexed passage; words are separated by spaces. */
export interface IndexedSection {
  readonly startLine: number;
  readonly endLine: number;
  readonly headings: readonly string[];
  readonly headingTerms: string;
  readonly bodyTerms: string;
}

/** An indexed page with all its words. */
export interface IndexedPage {
  readonly name: string;
  readonly version: number;
  readonly digest: string;
  readonly titleTerms: string;
  readonly sections: readonly IndexedSection[];
}

/** A page's entry in the directory. */
export interface KeptPage extends Pick<IndexedPage, "name" | "version" | "digest"> {
  /** First line and number of body words of each passage. */
  readonly startLines: readonly number[];
  readonly lengths: readonly number[];
}

/** An index that is read block by block. Pages are sorted by name, passages in the order of pages. */
export interface KeptIndex {
  readonly generation: number;
  readonly pages: readonly KeptPage[];
  /** The whole page at an index of `pages`. Throws {@link DamagedIndex}. */
  page(at: number): IndexedPage;
  /** Postings of a word. Throws {@link DamagedIndex}. */
  postings(term: string): Postings | undefined;
  close(): void;
}

/** Random access to bytes. */
export interface IndexBytes {
  readonly size: number;
  /** Fewer bytes at the end of the file. */
  read(at: number, length: number): Uint8Array;
  close(): void;
}

/** A block's checksum is wrong, so the index must be rebuilt. */
export class DamagedIndex extends Error {
  override readonly name = "DamagedIndex";
}

/** Increased when words, passages or blocks change, so that older files are rebuilt. */
const INDEX_FORMAT = "remit-wiki-index 8";
/** Maximum bytes of the first line. */
const MAX_HEAD = 512;
/** Characters of a block of words. */
const BLOCK_CHARS = 8_192;
/** Hexadecimal digits of a block's checksum: detects accidents, not an attacker who can write the state folder. */
const CHECK_DIGITS = 16;

/** Length of a block in bytes, and its checksum. */
type Place = readonly [length: number, check: string];

/** JSON of the directory. Typed by hand, since its checksum is verified before it is parsed. */
interface Directory {
  readonly clearance: string;
  readonly pages: readonly (readonly [
    ...[name: string, version: number, digest: string],
    ...[startLines: readonly number[], lengths: readonly number[]],
    ...Place,
  ])[];
  /** First word of each block of words, ascending. */
  readonly words: readonly (readonly [first: string, ...Place])[];
}

type PageBlock = readonly [
  titleTerms: string,
  sections: readonly (readonly [number, number, readonly string[], string, string])[],
];
type WordBlock = readonly (readonly [term: string, ...(readonly (readonly number[])[])])[];

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const encoder = new TextEncoder();

/** Serialises the index of pages, which must be sorted by name. */
export function writeIndex(
  clearance: Label,
  generation: number,
  all: Iterable<IndexedPage>,
): Uint8Array {
  const blocks: Uint8Array[] = [];
  const put = (value: PageBlock | WordBlock): Place => {
    const bytes = encoder.encode(JSON.stringify(value));
    blocks.push(bytes);
    return [bytes.length, sha256(bytes).slice(0, CHECK_DIGITS)];
  };
  const table = makeWordTable();
  const pages: Directory["pages"][number][] = [];
  let number = 0;
  for (const { name, version, digest, titleTerms: title, sections } of all) {
    for (const { headingTerms: headings, bodyTerms: body } of sections) {
      table.add(number++, { title, headings, body });
    }
    const place = put([
      title,
      sections.map((each) => [
        ...[each.startLine, each.endLine] as const,
        ...[each.headings, each.headingTerms, each.bodyTerms] as const,
      ]),
    ]);
    const lengths = sections.map(({ bodyTerms }) =>
      bodyTerms === "" ? 0 : bodyTerms.split(" ").length
    );
    const lines = sections.map(({ startLine }) => startLine);
    pages.push([name, version, digest, lines, lengths, ...place]);
  }
  const words: Directory["words"][number][] = [];
  let [block, size]: [WordBlock[number][], number] = [[], 0];
  const end = (): void => {
    const [first] = block;
    if (first !== undefined) words.push([first[0], ...put(block)]);
    [block, size] = [[], 0];
  };
  for (const [term, postings] of [...table.entries()].sort(([a], [b]) => a < b ? -1 : 1)) {
    block.push([term, ...FIELDS.map((field) => postings[field])]);
    size += FIELDS.reduce((sum, field) => sum + 4 * postings[field].length, term.length);
    if (size >= BLOCK_CHARS) end();
  }
  end();
  const directory = encoder.encode(
    JSON.stringify({ clearance, pages, words } satisfies Directory),
  );
  const rest = blocks.reduce((sum, each) => sum + each.length, 0);
  const head = encoder.encode(
    `${INDEX_FORMAT} ${generation} ${directory.length} ${rest} ${sha256(directory)}\n`,
  );
  const bytes = new Uint8Array(head.length + directory.length + rest);
  let at = 0;
  for (const each of [head, directory, ...blocks]) {
    bytes.set(each, at);
    at += each.length;
  }
  return bytes;
}

/** Generation of a stored index, from its first line; undefined for other files. */
export function indexGeneration(bytes: IndexBytes): number | undefined {
  return headOf(bytes)?.generation;
}

/** Opens an index; undefined unless {@link writeIndex} wrote it for this clearance. */
export function openIndex(clearance: Label, bytes: IndexBytes): KeptIndex | undefined {
  const head = headOf(bytes);
  if (head === undefined) return undefined;
  const body = bytes.read(head.end, head.length);
  if (sha256(body) !== head.sha256) return undefined;
  // TRUST: the checksum shows that we wrote the file completely; one of another clearance is refused.
  const directory = JSON.parse(new TextDecoder().decode(body)) as Directory;
  if (directory.clearance !== clearance) return undefined;

  let end = head.end + head.length;
  const placed = ([length, check]: Place) => {
    const at = end;
    end += length;
    return { at, length, check };
  };
  const pages = directory.pages.map((
    [name, version, digest, startLines, lengths, ...place],
  ) => ({ name, version, digest, startLines, lengths, ...placed(place) }));
  const words = directory.words.map(([first, ...place]) => ({ first, ...placed(place) }));
  const known = new Map<number, ReadonlyMap<string, Postings>>();

  const blockOf = ({ at, length, check }: ReturnType<typeof placed>): unknown => {
    const block = bytes.read(at, length);
    if (sha256(block).slice(0, CHECK_DIGITS) !== check) {
      throw new DamagedIndex("a block is not what was written");
    }
    return JSON.parse(new TextDecoder().decode(block));
  };

  return Object.freeze<KeptIndex>({
    generation: head.generation,
    pages,
    page(at) {
      const found = pages[at];
      if (found === undefined) throw new TypeError(`no page ${at}`);
      const { name, version, digest } = found;
      const [titleTerms, sections] = blockOf(found) as PageBlock;
      return {
        ...{ name, version, digest, titleTerms },
        sections: sections.map(([startLine, endLine, headings, headingTerms, bodyTerms]) => ({
          ...{ startLine, endLine, headings, headingTerms, bodyTerms },
        })),
      };
    },
    postings(term) {
      const at = lastAtOrBelow(words.length, (n) => (words[n]?.first ?? "") <= term);
      const place = words[at];
      if (place === undefined) return undefined;
      let block = known.get(at);
      if (block === undefined) {
        block = new Map((blockOf(place) as WordBlock).map((
          [word, title = [], headings = [], body = []],
        ) => [word, { title, headings, body }]));
        known.set(at, block);
      }
      return block.get(term);
    },
    close: () => bytes.close(),
  });
}

/** Binary search: the last of `count` positions for which the monotonic predicate `below` holds; -1 for none. */
export function lastAtOrBelow(count: number, below: (n: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (below(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function headOf(bytes: IndexBytes) {
  const first = bytes.read(0, MAX_HEAD);
  const end = first.indexOf(10);
  if (end < 0) return undefined;
  const line = new TextDecoder().decode(first.subarray(0, end));
  if (!line.startsWith(`${INDEX_FORMAT} `)) return undefined;
  const [, generation, length, rest, sha] =
    /^(\d{1,15}) (\d{1,12}) (\d{1,12}) ([0-9a-f]{64})$/.exec(line.slice(INDEX_FORMAT.length + 1)) ??
      [];
  if (sha === undefined || end + 1 + Number(length) + Number(rest) !== bytes.size) return undefined;
  return { generation: Number(generation), length: Number(length), sha256: sha, end: end + 1 };
}
