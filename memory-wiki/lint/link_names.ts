/** Resolves link targets and similar names among visible pages, and normalises texts for comparison. @module */
import type { PageName } from "../../contracts/memory/mod.ts";
import { sentencesOf } from "../markdown/claims.ts";
import { linkKey } from "../markdown/mod.ts";
import { NEGATIONS } from "./facts/vocabulary.ts";

/** Names of pages. */
export interface LinkNames {
  add(page: {
    readonly name: PageName;
    readonly title: string;
    readonly aliases: readonly string[];
  }): void;
  /** Like `PageTable.find`, among the added pages. */
  find(target: string): PageName | undefined;
  /** The only page whose name, title or alias is similar to `target`; undefined for none or several. */
  near(target: string): PageName | undefined;
}

/** Longer targets have no similar names. */
const MAX_NEAR = 64;
/** Shorter names have too many similar ones. */
const MIN_NEAR = 4;

/** A title, ignoring case. */
function titleKey(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

/** A name, title or alias without case, punctuation, spaces and a plural `s`. */
function nearKey(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "")
    .replace(/(?<=\p{L}{3})s$/u, "");
}

/**
 * Every form of `key` without one character: two keys one edit apart share a form. Digits are kept, and
 * prefixed: `lease-2` is not similar to `lease-3`.
 */
function* withoutOne(key: string): Generator<string> {
  const characters = [...key];
  const digits = characters.filter((each) => /\p{N}/u.test(each)).join("");
  for (const [at, each] of characters.entries()) {
    if (!/\p{N}/u.test(each)) yield `${digits}|${characters.toSpliced(at, 1).join("")}`;
  }
}

/** The complete `key` in the format of {@link withoutOne}. */
function bare(key: string): string {
  return `${key.replaceAll(/\P{N}+/gu, "")}|${key}`;
}

function once(map: Map<string, PageName | null>, key: string, name: PageName): void {
  if (key === "") return;
  const known = map.get(key);
  // null: several pages.
  map.set(key, known === undefined || known === name ? name : null);
}

/** Makes an empty set of names. Memory is linear in their characters. */
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
          if (key.length > MAX_NEAR || key.length < MIN_NEAR) continue;
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
        if (key.length > MAX_NEAR || key.length < MIN_NEAR) return undefined;
        const found = new Set<PageName | null>();
        // One insertion, deletion or substitution apart.
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

/** A title without case, punctuation and spaces. */
export function bareTitle(title: string): string {
  return titleKey(title).normalize("NFKC").replaceAll(/[^\p{L}\p{N}+#]+/gu, " ").trim();
}

/** The words of a text in lower case, separated by single spaces. */
export function bareWords(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** Separators of clauses that are true independently. */
const CLAUSES = /[;:—–]|,\s+(?=(?:but|and|so|while|which|although|because|if|when)\b)/u;

/**
 * The clause of `source` that contains `words` with an additional negation: "No lease ends early" for "lease
 * ends early". Undefined if the words also occur without it.
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

const MAX_QUOTED = 160;

/** A text for a message: in quotation marks, on one line, shortened. */
export function inQuotes(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return JSON.stringify(line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line);
}
