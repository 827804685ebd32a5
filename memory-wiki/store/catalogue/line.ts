/** What `raw/sources.jsonl` says of one version of a source. It is written by the store, and read as anyone's words. @module */
import * as z from "zod";
import { Colour, Label, Millis, SourceOrigin, WikiSource } from "../../../contracts/mod.ts";

/** Where the catalogue lies. */
export const CATALOGUE_FILE = "raw/sources.jsonl";
/** Most of one line, bytes: the longest key and origin, every character escaped, and more. */
export const LINE_BYTES = 131_072;
/** A version beyond this is nobody's. */
const MOST_VERSION = 1_000_000_000;

const { digest, raw, text, key, version, kind, title, state } = WikiSource.shape;
const { origin, by, retrievedAt, parser } = SourceOrigin.shape;

/** One line: how a version stood when it was taken in, superseded, removed, renewed or judged worse. */
export const CatalogueEntry = z.object({
  ...{ digest, raw, text, key, version: version.max(MOST_VERSION), kind, title },
  ...{ origin, by, retrievedAt, parser },
  colour: Colour,
  label: Label,
  expiresAt: Millis.optional(),
  state,
}).strict().refine(
  (entry) =>
    [entry.key, entry.title, entry.origin, entry.by, entry.raw, entry.text, entry.parser ?? ""]
      .every((words) => words.isWellFormed()),
  "it is no Unicode text",
);
/** See {@link CatalogueEntry}. */
export type CatalogueEntry = z.infer<typeof CatalogueEntry>;

/** The line of an entry, with its line feed. Its digest comes first: {@link digestOfLine} finds it without parsing. */
export function catalogueLine({ digest, ...more }: CatalogueEntry): string {
  return `${JSON.stringify({ digest, ...more })}\n`;
}

/** The digest that a line begins with; undefined where it is none of the store's form. */
export function digestOfLine(line: string): string | undefined {
  return /^\{"digest":"([0-9a-f]{64})",/.exec(line)?.[1];
}

/** The entry of a line without its line feed; undefined where it is none. */
export function tryCatalogueEntry(line: string): CatalogueEntry | undefined {
  try {
    return CatalogueEntry.safeParse(JSON.parse(line)).data;
  } catch (error) {
    // Deep nesting may end as a RangeError.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
