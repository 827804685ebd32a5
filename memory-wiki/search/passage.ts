/** A passage of a page or source that may answer. @module */
import type { WikiSource } from "../../contracts/mod.ts";
import type { Chunk } from "../store/wiki_store.ts";

interface PassageText {
  /** `pages/NAME.md` or `raw/NAME`. */
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Tells it from others on the same line. */
  readonly startByte: number;
  readonly headings: readonly string[];
  readonly titleTerms: readonly string[];
  readonly headingTerms: readonly string[];
  readonly bodyTerms: readonly string[];
}

/** Of a page. */
export interface PagePassage extends PassageText {
  readonly kind: "page";
  readonly name: string;
  readonly version: number;
  readonly digest: string;
  /** Its number within the page, from 0. */
  readonly n: number;
}

/** Of a source. */
export interface SourcePassage extends PassageText {
  readonly kind: "source";
  readonly source: WikiSource;
  readonly chunk: Chunk;
}

/** Of either. */
export type Passage = PagePassage | SourcePassage;

/** Names a passage for whoever sees it: the same with and without what others see. */
export function passageKey(
  { file, startLine, startByte }: Pick<Passage, "file" | "startLine" | "startByte">,
): string {
  return `${file}:${startLine}:${startByte}`;
}
