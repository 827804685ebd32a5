/** Names compared: what a `[[link]]` means among pages that may be seen (as `linkKey` has it), and texts without case and marks. @module */
import type { PageName } from "../../contracts/memory/mod.ts";
import { sentencesOf } from "../markdown/claims.ts";
import { linkKey } from "../markdown/mod.ts";
import { NEGATIONS } from "./facts/vocabulary.ts";

/** Names of pages, as links reach them. */
export interface LinkNames {
  add(page: {
    readonly name: PageName;
    readonly title: string;
    readonly aliases: readonly string[];
  }): void;
  /** As `PageTable.find`, among the pages that were added. */
  find(target: string): PageName | undefined;
  /** The one page whose name or title is nearly `target`; undefined when there is none or more than one. */
  near(target: string): PageName | undefined;
}

/** Targets longer than this are not compared for nearness. */
const LONGEST_NEAR = 64;
/** Names shorter than this have too many neighbours. */
const SHORTEST_NEAR = 4;

/** What a link compares without regard to case. */
function titleKey(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

/** What is left of a name, title or alias when case, punctuation, spaces and a plural's `s` do not count. */
function nearKey(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "")
    .replace(/(?<=\p{L}{3})s$/u, "");
}

/**
 * Every form of `key` with one letter left out: two keys one edit apart share one of these, or are one. Digits are
 * never left out, and stand before: `lease-2` is not nearly `lease-3`.
 */
function* withoutOne(key: string): Generator<string> {
  const letters = [...key];
  const digits = letters.filter((letter) => /\p{N}/u.test(letter)).join("");
  for (const [at, letter] of letters.entries()) {
    if (!/\p{N}/u.test(letter)) yield `${digits}|${letters.toSpliced(at, 1).join("")}`;
  }
}

/** `key` itself in the shape of {@link withoutOne}. */
function bare(key: string): string {
  return `${key.replaceAll(/\P{N}+/gu, "")}|${key}`;
}

function once(map: Map<string, PageName | null>, key: string, name: PageName): void {
  if (key === "") return;
  const known = map.get(key);
  // null: more than one page.
  map.set(key, known === undefined || known === name ? name : null);
}

/** Makes an empty set of names. Memory is proportional to the names' characters. */
export function makeLinkNames(): LinkNames {
  const names = new Map<string, PageName>();
  const links = new Map<string, PageName>();
  const nears = new Map<string, PageName | null>();
  const shortened = new Map<string, PageName | null>();

  return Object.freeze(
    {
      add({ name, title, aliases }) {
        names.set(name, name);
        for (const text of [name, title, ...aliases]) {
          const key = linkKey(text);
          if (!links.has(key)) links.set(key, name);
        }
        const keys = new Set([name, title, ...aliases].map(nearKey));
        for (const key of keys) {
          once(nears, key, name);
          if (key.length > LONGEST_NEAR || key.length < SHORTEST_NEAR) continue;
          for (const form of [bare(key), ...withoutOne(key)]) once(shortened, form, name);
        }
      },
      find(target) {
        const key = linkKey(target);
        return names.get(target.normalize("NFC")) ?? names.get(key) ?? links.get(key);
      },
      near(target) {
        const key = nearKey(target);
        const exact = nears.get(key);
        if (exact !== undefined) return exact ?? undefined;
        if (key.length > LONGEST_NEAR || key.length < SHORTEST_NEAR) return undefined;
        const found = new Set<PageName | null>();
        // One letter more or less on one side, or one letter changed.
        for (const form of [bare(key), ...withoutOne(key)]) {
          const other = shortened.get(form);
          if (other !== undefined) found.add(other);
        }
        const [only] = found;
        return found.size === 1 ? only ?? undefined : undefined;
      },
    } satisfies LinkNames,
  );
}

/** What is left of a title when case, punctuation and spaces do not count. */
export function bareTitle(title: string): string {
  return titleKey(title).normalize("NFKC").replaceAll(/[^\p{L}\p{N}+#]+/gu, " ").trim();
}

/** The words of a text, in lower case, one space between two. */
export function bareWords(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** Parts of a sentence that may be true without each other. */
const CLAUSES = /[;:—–]|,\s+(?=(?:but|and|so|while|which|although|because|if|when)\b)/u;

/**
 * The clause of `source` that says `words` with a negation which they leave out: "No lease ends early" for "lease ends
 * early". Undefined where they stand somewhere as they are.
 */
export function negatedIn(words: string, source: string): string | undefined {
  const wanted = bareWords(words);
  if (wanted === "") return undefined;
  const own = negationsOf(words);
  let found: string | undefined;
  for (const { start, end } of sentencesOf(source)) {
    for (const clause of source.slice(start, end).split(CLAUSES)) {
      if (!` ${bareWords(clause)} `.includes(` ${wanted} `)) continue;
      if (negationsOf(clause) <= own) return undefined;
      found ??= clause.replaceAll(/\s+/gu, " ").trim();
    }
  }
  return found;
}

function negationsOf(text: string): number {
  return text.toLowerCase().match(/[\p{L}]+(?:['’]t)?/gu)?.filter((word) =>
    NEGATIONS.has(word.replace("’", "'"))
  ).length ?? 0;
}
