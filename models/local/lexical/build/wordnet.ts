/** Reads WordNet's database files: sets of words that mean the same, with what they mean. @module */

/** Parts of speech, in the order in which their files are read. */
export const PARTS_OF_SPEECH = ["noun", "verb", "adj", "adv"] as const;
/** See {@link PARTS_OF_SPEECH}. */
export type PartOfSpeech = (typeof PARTS_OF_SPEECH)[number];

/** One meaning. */
export interface Meaning {
  /** `n00001740`. */
  readonly id: string;
  /** In lower case; those of several words have `_` between them. */
  readonly names: readonly string[];
  readonly definition: string;
  readonly examples: string;
  /** Relation, and the id of the other meaning. */
  readonly links: readonly (readonly [sign: string, to: string])[];
}

/** What one pair of files says. */
export interface WordNetPart {
  readonly meanings: readonly Meaning[];
  /** `name id` → how many meanings of the name (in this part of speech) are more usual. */
  readonly ranks: ReadonlyMap<string, number>;
  /** The comment at the beginning: the licence. */
  readonly notice: string;
}

const LETTER: Readonly<Record<string, string>> = { n: "n", v: "v", a: "a", s: "a", r: "r" };
const OWN = { noun: "n", verb: "v", adj: "a", adv: "r" } as const;

/** Reads the texts of `data.X` and `index.X`. */
export function readWordNet(
  part: PartOfSpeech,
  texts: { readonly data: string; readonly index: string },
): WordNetPart {
  const meanings: Meaning[] = [];
  const notice: string[] = [];
  for (const line of texts.data.split("\n")) {
    if (line.startsWith("  ")) notice.push(line.replace(/^ +\d+ ?/, "").trimEnd());
    else if (line !== "") meanings.push(readMeaning(OWN[part], line));
  }
  const ranks = new Map<string, number>();
  for (const line of texts.index.split("\n")) {
    if (!line.startsWith("  ") && line !== "") readRanks(OWN[part], line.trimEnd(), ranks);
  }
  return { meanings, ranks, notice: `${notice.join("\n").trim()}\n` };
}

/** `offset lexfile type N word id … P sign offset type source … | gloss`; N is hexadecimal. */
function readMeaning(letter: string, line: string): Meaning {
  const bar = line.indexOf(" | ");
  const fields = line.slice(0, bar).split(" ");
  const field = (n: number): string => fields[n] ?? "";
  const names: string[] = [];
  const count = Number.parseInt(field(3), 16);
  for (let n = 0; n < count; n++) {
    names.push(field(4 + 2 * n).replace(/\(.*$/, "").toLowerCase());
  }
  const links: (readonly [string, string])[] = [];
  const first = 5 + 2 * count;
  const linked = Number.parseInt(field(first - 1), 10);
  for (let n = 0; n < linked; n++) {
    const at = first + 4 * n;
    links.push([field(at), (LETTER[field(at + 2)] ?? "") + field(at + 1)]);
  }
  const [definition, examples] = parted(line.slice(bar + 3));
  return { id: letter + field(0), names, definition, examples, links };
}

/** Examples stand in quotation marks. */
function parted(gloss: string): readonly [definition: string, examples: string] {
  const pieces = gloss.split('"');
  const every = (odd: number): string => pieces.filter((_, n) => n % 2 === odd).join(" ");
  return [every(0), every(1)];
}

/** `name type N … offset…`: the last N fields, the most usual meaning first. */
function readRanks(letter: string, line: string, ranks: Map<string, number>): void {
  const fields = line.split(" ");
  const count = Number(fields[2]);
  const offsets = fields.slice(fields.length - count);
  for (const [rank, offset] of offsets.entries()) {
    ranks.set(`${fields[0] ?? ""} ${letter}${offset}`, rank);
  }
}
