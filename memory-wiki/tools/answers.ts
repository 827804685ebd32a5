/** What the wiki's process answers, parsed once at the crossing. TRUST: it has read hostile text. @module */
import * as z from "zod";
import { Colour, Label } from "../../contracts/colour.ts";
import { Fault } from "../../contracts/fault.ts";
import { Digest } from "../../contracts/ids.ts";
import type { Json } from "../../contracts/json.ts";
import { Hit, Note } from "../../contracts/wiki.ts";
import { PatchName } from "../../contracts/wiki_page.ts";
import { ReadLines } from "../../contracts/wire_wiki.ts";

export { ReadLines };

/** The catalogue. */
export const IndexRows = z.array(z.object({
  name: z.string().max(120),
  title: z.string().max(256),
  kind: z.string().max(32),
  about: z.string().max(400),
  colour: Colour,
  label: Label,
  stale: z.boolean(),
})).max(10_000);

/** What a query found. */
export const FoundHits = z.object({
  hits: z.array(Hit).max(100),
  fit: z.enum(["good", "weak", "none"]),
  searched: z.object({
    pages: z.int().min(0),
    sources: z.int().min(0),
    passages: z.int().min(0),
    terms: z.array(z.string().max(256)).max(256),
    vectors: z.boolean(),
  }),
});
/** See {@link FoundHits}. */
export type FoundHits = z.infer<typeof FoundHits>;

/** A footnote that holds. */
export const Cited = z.object({
  definition: z.string().max(4_096),
  citation: z.object({ source: Digest, startLine: z.int(), endLine: z.int() }),
  text: z.string().max(100_000),
  colour: Colour,
  label: Label,
});

/** Notes, newest first. */
export const Notes = z.array(Note).max(10_000);
export { Note };

/** What a proposed page would change. See memory-wiki/tools/check_draft.ts. */
export const CheckedDraft = z.object({
  /** The version that stands; 0: there is none. */
  found: z.int().min(0),
  /** Whether the clearance covers the page that stands. True where there is none. */
  seen: z.boolean(),
  plus: z.int().min(0),
  minus: z.int().min(0),
  /** Definitions of citations, and how many of them hold. */
  citations: z.int().min(0),
  holding: z.int().min(0),
  /** Statements without a citation that holds: how many, and the first few. */
  uncited: z.int().min(0),
  uncitedTexts: z.array(z.string().max(200)).max(20),
  /** What the page would be, without what its author has read. */
  colour: Colour,
  label: Label,
  /** The same change by the same author that was proposed before. */
  same: z.object({
    id: PatchName,
    state: z.enum(["proposed", "applied", "rejected", "conflict"]),
  }).optional(),
});
/** See {@link CheckedDraft}. */
export type CheckedDraft = z.infer<typeof CheckedDraft>;

/** A patch as much as the tools need of it. */
export const Patched = z.object({
  id: PatchName,
  state: z.enum(["proposed", "applied", "rejected", "conflict"]),
  conflicts: z.array(z.object({
    page: z.string().max(120),
    expected: z.int(),
    found: z.int(),
    by: z.string().max(256),
    why: z.enum(["version", "lease", "handEdit"]),
  })).max(500).optional(),
});

/** Reads an answer. @throws Fault `upstream` for one of another shape */
export function readAnswer<S extends z.ZodType>(schema: S, answer: Json): z.infer<S> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault(
    "upstream",
    `Cannot read the wiki's answer: ${issue?.path.map(String).join(".")}: ${issue?.message}`,
  );
}
