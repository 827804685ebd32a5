/**
 * A kept index of pages: a directory, then a block for each page, then blocks of words in their order. What answers a question reads the
 * directory and the few blocks that it needs; each block is believed only where its checksum holds.
 * @module
 */
import { createHash } from "node:crypto";
import type { Label } from "../../contracts/authority/mod.ts";
import { FIELDS, makeWordTable, type Postings } from "./page_words.ts";

/** A passage as it was indexed; words are joined by spaces. */
export interface IndexedSection {
  readonly startLine: number;
  readonly endLine: number;
  readonly headings: readonly string[];
  readonly headingTerms: string;
  readonly bodyTerms: string;
}

/** A page as it was indexed, with all its words. */
export interface IndexedPage {
  readonly name: string;
  readonly version: number;
  readonly digest: string;
  readonly titleTerms: string;
  readonly sections: readonly IndexedSection[];
}

/** What the directory says of a page. */
export interface KeptPage extends Pick<IndexedPage, "name" | "version" | "digest"> {
  /** Of each passage: where it begins, and how many words its body has. */
  readonly startLines: readonly number[];
  readonly lengths: readonly number[];
}

/** An index that is read block by block. Its pages are in the order of their names, its passages in that of the pages. */
export interface KeptIndex {
  readonly generation: number;
  readonly pages: readonly KeptPage[];
  /** The page at a place of `pages`, whole. Throws {@link DamagedIndex}. */
  page(at: number): IndexedPage;
  /** Where a word stands. Throws {@link DamagedIndex}. */
  postings(term: string): Postings | undefined;
  close(): void;
}

/** Bytes that are read by ranges. */
export interface IndexBytes {
  readonly size: number;
  /** These bytes, fewer where the file ends. */
  read(at: number, length: number): Uint8Array;
  close(): void;
}

/** A block that is not what was written: the index is to be made anew. */
export class DamagedIndex extends Error {
  override readonly name = "DamagedIndex";
}

/** Raised when the words, the passages or their blocks change: an older file is then built anew. */
const INDEX_FORMAT = "remit-wiki-index 8";
/** Bytes within which the first line ends. */
const MAX_HEAD = 512;
/** Words are written together until a block has so many characters. */
const BLOCK = 8_192;
/** Hexadecimal digits of a block's checksum: against accidents, not against whoever can write the state folder. */
const CHECK = 16;

/** A block: its length in bytes, and its checksum. */
type Place = readonly [length: number, check: string];

/** JSON of the directory. By hand and not by a schema: what is within is vouched for by its checksum. */
interface Directory {
  readonly clearance: string;
  readonly pages: readonly (readonly [
    ...[name: string, version: number, digest: string],
    ...[startLines: readonly number[], lengths: readonly number[]],
    ...Place,
  ])[];
  /** The first word of each block of words, upward. */
  readonly words: readonly (readonly [first: string, ...Place])[];
}

type PageBlock = readonly [
  titleTerms: string,
  sections: readonly (readonly [number, number, readonly string[], string, string])[],
];
type WordBlock = readonly (readonly [term: string, ...(readonly (readonly number[])[])])[];

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const encoder = new TextEncoder();

/** Writes the index of these pages, which come in the order of their names. */
export function writeIndex(
  clearance: Label,
  generation: number,
  all: Iterable<IndexedPage>,
): Uint8Array {
  const blocks: Uint8Array[] = [];
  const put = (value: PageBlock | WordBlock): Place => {
    const bytes = encoder.encode(JSON.stringify(value));
    blocks.push(bytes);
    return [bytes.length, sha256(bytes).slice(0, CHECK)];
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
    if (size >= BLOCK) end();
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

/** Generation of a kept index, by its first line alone; undefined for what is none. */
export function indexGeneration(bytes: IndexBytes): number | undefined {
  return headOf(bytes)?.generation;
}

/** Opens an index; undefined for anything that {@link writeIndex} did not write for this clearance. */
export function openIndex(clearance: Label, bytes: IndexBytes): KeptIndex | undefined {
  const head = headOf(bytes);
  if (head === undefined) return undefined;
  const body = bytes.read(head.end, head.length);
  if (sha256(body) !== head.sha256) return undefined;
  // TRUST: the checksum held, so that it is ours and whole; another clearance's file under this name is refused.
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
    if (sha256(block).slice(0, CHECK) !== check) {
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

/** The last of `count` places for which `below` holds, where it holds for all before one that it holds for; -1 for none. */
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
