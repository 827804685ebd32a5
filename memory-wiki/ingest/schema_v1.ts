/**
 * What a language model fills in for one part of one source: version 1.
 * Versions are never changed, only followed: answers that were taken stay readable. Fixtures: ./_fixture/.
 * @module
 */
import * as z from "zod";
import { PageKind } from "../../contracts/wiki_page.ts";

/** Part of the id of every item: an answer of another version is no answer. */
export const SCHEMA_VERSION = 1;

/** Most of each list of one answer. */
export const MOST_LISTED = {
  claims: 40,
  entities: 30,
  relations: 40,
  contradictions: 10,
  pages: 10,
};

const Line = z.int().min(1).max(100_000_000);
const Name = z.string().min(1).max(120);

/** One answer, by its shape alone; ./check_extraction.ts says whether it holds. */
export const ExtractionV1 = z.object({
  version: z.literal(1),
  claims: z.array(
    z.object({
      text: z.string().min(8).max(500),
      startLine: Line,
      endLine: Line,
      /** Word for word from these lines. */
      quote: z.string().min(8).max(600),
    }).strict(),
  ).max(MOST_LISTED.claims),
  entities: z.array(
    z.object({
      name: Name,
      kind: z.enum(["person", "organisation", "product", "place", "event", "concept", "other"]),
      aliases: z.array(Name).max(8),
    }).strict(),
  ).max(MOST_LISTED.entities),
  relations: z.array(
    z.object({ from: Name, kind: z.string().min(2).max(60), to: Name }).strict(),
  ).max(MOST_LISTED.relations),
  contradictions: z.array(
    z.object({
      /** Name of a page that was shown. */
      page: Name,
      /** Its statement, as shown. */
      claim: z.string().min(8).max(500),
      why: z.string().min(8).max(500),
      startLine: Line,
      endLine: Line,
    }).strict(),
  ).max(MOST_LISTED.contradictions),
  pages: z.array(z.object({ title: Name, kind: PageKind }).strict()).max(MOST_LISTED.pages),
}).strict();
/** See {@link ExtractionV1}. */
export type ExtractionV1 = z.infer<typeof ExtractionV1>;

/** JSON Schema of {@link ExtractionV1}, as a model is given it. */
export const EXTRACTION_SCHEMA_V1: string = JSON.stringify(
  z.toJSONSchema(ExtractionV1, { target: "draft-7" }),
);
