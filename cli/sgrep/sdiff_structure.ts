/** `sdiff --mode structure`: finds changed sections of two documents, without a model. @module */

// The shape of a document: its sections, their sizes, the course of their argument.

/** A sentence's role in the argument, by the words that it begins with. */
type Move =
  | "contrast"
  | "consequence"
  | "reason"
  | "example"
  | "condition"
  | "addition"
  | "sequence";

/** A heading with the text up to the next heading of any level. */
interface Section {
  /** The headings above it and its own, outermost first; empty before the first heading. */
  readonly path: readonly string[];
  /** 1 to 6; 0 before the first heading. */
  readonly level: number;
  /** The line of its heading, from 1. */
  readonly line: number;
  readonly paragraphs: number;
  readonly items: number;
  /** Blocks of code. */
  readonly code: number;
  readonly words: readonly string[];
  /** Moves in order, without immediate repetitions. */
  readonly flow: readonly Move[];
}

const MOVES: readonly (readonly [Move, RegExp])[] = [
  [
    "contrast",
    /^(?:but|however|yet|although|though|nevertheless|nonetheless|instead|conversely|whereas|on the other hand|by contrast|despite)\b/i,
  ],
  [
    "consequence",
    /^(?:therefore|thus|hence|so|consequently|accordingly|as a result|it follows)\b/i,
  ],
  [
    "reason",
    /^(?:because|since|as shown|according to|the reason|given that|this is why|for this reason)\b/i,
  ],
  ["example", /^(?:for example|for instance|e\.g\.|such as|consider|suppose|imagine)/i],
  ["condition", /^(?:if|unless|provided|assuming|when|where|as long as|only if)\b/i],
  ["addition", /^(?:moreover|furthermore|also|in addition|besides|likewise|similarly|and)\b/i],
  [
    "sequence",
    /^(?:first|firstly|second|secondly|third|then|next|finally|lastly|afterwards|before|after)\b/i,
  ],
];
const MAX_LINES = 200_000;

function moveOf(sentence: string): Move | undefined {
  return MOVES.find(([, words]) => words.test(sentence))?.[0];
}

function movesOf(text: string): readonly Move[] {
  // Clauses after a comma or semicolon argue, too: "it is short, because …".
  const sentences = text.split(/(?<=[.!?;:,])\s+/).map((each) => each.trim());
  return sentences.flatMap((each) => {
    const move = moveOf(each);
    return move === undefined ? [] : [move];
  });
}

interface Draft {
  path: string[];
  level: number;
  line: number;
  lines: string[];
  code: number;
}

function finished({ path, level, line, lines, code }: Draft): Section {
  const blocks = lines.join("\n").split(/\n\s*\n/).map((each) => each.trim())
    .filter((each) => each !== "");
  const isItem = (each: string): boolean => /^(?:[-*+]|\d+[.)])\s/.test(each);
  const items = lines.filter((each) => isItem(each.trim())).length;
  const flow: Move[] = [];
  for (const block of blocks) {
    for (const move of movesOf(block.replace(/\s+/g, " "))) {
      if (flow.at(-1) !== move) flow.push(move);
    }
  }
  return {
    ...{ path, level, line, items, code, flow },
    paragraphs: blocks.filter((each) => !isItem(each)).length,
    words: lines.join(" ").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
  };
}

/** Parses Markdown into sections, by headings with `#` or underlines; code is counted alone. */
export function outlineOf(text: string): readonly Section[] {
  const lines = text.replace(
    /^---\n[\s\S]*?\n---\n/,
    (front) => "\n".repeat(front.split("\n").length - 1),
  )
    .split(/\r?\n/).slice(0, MAX_LINES);
  const sections: Section[] = [];
  const above: { readonly level: number; readonly title: string }[] = [];
  let draft: Draft = { path: [], level: 0, line: 1, lines: [], code: 0 };
  let fence: string | undefined;
  const open = (level: number, title: string, line: number): void => {
    sections.push(finished(draft));
    while ((above.at(-1)?.level ?? 0) >= level) above.pop();
    above.push({ level, title });
    draft = { path: above.map((each) => each.title), level, line, lines: [], code: 0 };
  };
  lines.forEach((line, n) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark !== undefined && mark.startsWith(fence)) fence = undefined;
      return;
    }
    if (mark !== undefined) {
      fence = mark;
      draft.code += 1;
      return;
    }
    const [, marks = "", title = ""] = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) ?? [];
    if (marks !== "") return open(marks.length, title, n + 1);
    const last = draft.lines.at(-1)?.trim() ?? "";
    const under = /^ {0,3}(=+|-+)\s*$/.exec(line)?.[1];
    const before = draft.lines.at(-2)?.trim() ?? "";
    if (under !== undefined && last !== "" && before === "" && !/^[-*+>|]/.test(last)) {
      draft.lines.pop();
      return open(under.startsWith("=") ? 1 : 2, last, n);
    }
    draft.lines.push(line);
  });
  sections.push(finished(draft));
  const [first] = sections;
  // Drop the part before the first heading if it is empty.
  return first !== undefined && first.level === 0 && first.words.length === 0 && first.code === 0
    ? sections.slice(1)
    : sections;
}

/** A section's headings, outermost first, joined by ` > `, and its line. */
export interface SectionPlace {
  readonly section: string;
  readonly line: number;
}

/** A section that differs between the documents. */
interface ChangedSection {
  readonly section: string;
  readonly before_line: number;
  readonly after_line: number;
  /** Before and after. */
  readonly words: readonly [number, number];
  readonly paragraphs: readonly [number, number];
  readonly items: readonly [number, number];
  readonly code: readonly [number, number];
  /** The share of common words: 0 for none, 1 for the same words. */
  readonly similarity: number;
  readonly flow: { readonly before: readonly Move[]; readonly after: readonly Move[] };
}

/** The differences in structure between two documents. */
export interface StructureDiff {
  readonly added_sections: readonly SectionPlace[];
  readonly removed_sections: readonly SectionPlace[];
  readonly renamed_sections: readonly {
    readonly before: SectionPlace;
    readonly after: SectionPlace;
    readonly similarity: number;
  }[];
  readonly moved_sections: readonly {
    readonly before: SectionPlace;
    readonly after: SectionPlace;
  }[];
  readonly changed_sections: readonly ChangedSection[];
}

/** The least similarity of a section and its renamed version. */
const RENAMED_SIMILARITY = 0.6;
/** Pairs of sections that are compared as renamed. */
const MAX_PAIRS = 250_000;

const placeOf = ({ path, line }: Section): SectionPlace => ({
  section: path.length === 0 ? "(beginning)" : path.join(" > "),
  line,
});
/** A text for comparison, without case and punctuation. */
export const keyOf = (text: string): string =>
  text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();

/** The share of common words: twice the shared over all. */
function wordsInCommon(a: readonly string[], b: readonly string[]): number {
  if (a.length + b.length === 0) return 1;
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of b) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared += 1;
  }
  return (2 * shared) / (a.length + b.length);
}

type Pair = readonly [number, number];

/** Pairs with the same heading: first under the same headings, then anywhere. */
function sameHeading(before: readonly Section[], after: readonly Section[]): Pair[] {
  const pairs: Pair[] = [];
  const taken = [new Set<number>(), new Set<number>()] as const;
  const match = (key: (section: Section) => string): void => {
    const open = new Map<string, number[]>();
    after.forEach((section, n) => {
      if (!taken[1].has(n)) open.set(key(section), [...(open.get(key(section)) ?? []), n]);
    });
    before.forEach((section, n) => {
      if (taken[0].has(n)) return;
      const found = open.get(key(section))?.shift();
      if (found === undefined) return;
      taken[0].add(n);
      taken[1].add(found);
      pairs.push([n, found]);
    });
  };
  match(({ path }) => path.map(keyOf).join("\n"));
  match(({ path, level }) => level === 0 ? "\n" : keyOf(path.at(-1) ?? ""));
  return pairs;
}

/** Pairs of the remaining sections with mostly the same words, the most similar first. */
function sameWords(
  before: readonly Section[],
  after: readonly Section[],
  pairs: readonly Pair[],
): readonly (readonly [number, number, number])[] {
  const left = before.keys().filter((n) => !pairs.some(([a]) => a === n)).toArray();
  const right = after.keys().filter((n) => !pairs.some(([, b]) => b === n)).toArray();
  if (left.length * right.length > MAX_PAIRS) return [];
  const alike = left.flatMap((a) =>
    right.map((b) => [a, b, wordsInCommon(before[a]?.words ?? [], after[b]?.words ?? [])] as const)
  ).filter(([a, , score]) => score >= RENAMED_SIMILARITY && (before[a]?.words.length ?? 0) > 0)
    .sort((x, y) => y[2] - x[2] || x[0] - y[0] || x[1] - y[1]);
  const found: (readonly [number, number, number])[] = [];
  for (const each of alike) {
    if (!found.some(([a, b]) => a === each[0] || b === each[1])) found.push(each);
  }
  return found;
}

/** The pairs that must move to restore the order: all but a longest increasing run. */
function outOfOrder(pairs: readonly Pair[]): readonly Pair[] {
  const sorted = pairs.toSorted((x, y) => x[0] - y[0]);
  const ends: number[] = [];
  const previous: number[] = [];
  sorted.forEach(([, b], n) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[ends[middle] ?? 0]?.[1] ?? 0) < b) low = middle + 1;
      else high = middle;
    }
    previous[n] = low > 0 ? ends[low - 1] ?? -1 : -1;
    ends[low] = n;
  });
  const kept = new Set<number>();
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) kept.add(at);
  return sorted.filter((_, n) => !kept.has(n));
}

/** Compares two documents, always with the same result. */
export function structureDiff(a: string, b: string): StructureDiff {
  const [before, after] = [outlineOf(a), outlineOf(b)];
  const same = sameHeading(before, after);
  const renamed = sameWords(before, after, same);
  const all: Pair[] = [...same, ...renamed.map(([x, y]) => [x, y] as const)];
  const moved = new Set(outOfOrder(all));
  const sectionsOf = (
    [x, y]: readonly [number, number, ...unknown[]],
  ): readonly [Section, Section] => {
    const [one, other] = [before[x], after[y]];
    if (one === undefined || other === undefined) throw new TypeError("Cannot compare: no section");
    return [one, other];
  };
  // A section has also moved if its level or the headings above it differ.
  const parents = (section: Section): string => section.path.slice(0, -1).map(keyOf).join("\n");
  const renamedParents = new Set(renamed.map(([x]) => before[x]?.path.map(keyOf).join("\n") ?? ""));
  for (const pair of same) {
    const [one, other] = sectionsOf(pair);
    const elsewhere = parents(one) !== parents(other) && !renamedParents.has(parents(one));
    if (elsewhere || one.level !== other.level) moved.add(pair);
  }
  const places = (pair: Pair): { readonly before: SectionPlace; readonly after: SectionPlace } => {
    const [one, other] = sectionsOf(pair);
    return { before: placeOf(one), after: placeOf(other) };
  };
  return {
    added_sections: after.filter((_, n) => !all.some(([, y]) => y === n)).map(placeOf),
    removed_sections: before.filter((_, n) => !all.some(([x]) => x === n)).map(placeOf),
    renamed_sections: renamed.toSorted((x, y) => x[1] - y[1]).map(([x, y, similarity]) => ({
      ...places([x, y]),
      similarity: round(similarity),
    })),
    moved_sections: [...moved].sort((x, y) => x[1] - y[1]).map(places),
    changed_sections: all.toSorted((x, y) => x[1] - y[1]).flatMap((pair) => {
      const [one, other] = sectionsOf(pair);
      return changed(one, other);
    }),
  };
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

function changed(one: Section, other: Section): readonly ChangedSection[] {
  const same = one.words.length === other.words.length &&
    one.words.every((word, n) => word === other.words[n]) && one.code === other.code &&
    one.items === other.items && one.paragraphs === other.paragraphs;
  if (same) return [];
  return [{
    section: placeOf(other).section,
    before_line: one.line,
    after_line: other.line,
    words: [one.words.length, other.words.length],
    paragraphs: [one.paragraphs, other.paragraphs],
    items: [one.items, other.items],
    code: [one.code, other.code],
    similarity: round(wordsInCommon(one.words, other.words)),
    flow: { before: one.flow, after: other.flow },
  }];
}

/** Whether there are no differences. */
export function isSameStructure(diff: StructureDiff): boolean {
  return Object.values(diff).every((list) => list.length === 0);
}
