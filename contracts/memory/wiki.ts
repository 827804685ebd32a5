/** Answers of the wiki memory: lint findings, search hits, notes, its log. @module */
import * as z from "zod";
import { Digest, Millis } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** Every rule of the lint. */
export const LINT_RULES = [
  "missingCitation", // a claim without a citation
  "brokenCitation", // the cited source, lines or digest do not exist
  "changedSource", // the source has a newer version without the cited words, or was removed
  "alteredSource", // the raw bytes differ from those ingested
  "stalePage",
  "orphanPage",
  "brokenLink",
  "duplicatePage",
  "misquote", // quoted words that are not in the cited lines, or are negated there
  "contradiction",
  "untrustedClaim", // all of its sources are RED
  "labelDrift", // front matter shows another label than the store has
  "colourDrift",
  "longPage",
  "frontMatter",
  "handEdit", // a file changed outside the store
  "expiredSource",
  "logAltered",
] as const;
/** One of {@link LINT_RULES}. */
export type LintRule = (typeof LINT_RULES)[number];

/** One finding of the lint. */
export interface Finding {
  readonly rule: LintRule;
  readonly severity: "error" | "warning";
  /** `pages/NAME.md`, `raw/NAME`, `index.md`, `log.md`. */
  readonly file: string;
  readonly line?: number;
  readonly message: string;
  /** What to do, one sentence. */
  readonly remedy: string;
  /** Whether `--fix` has a patch for it. */
  readonly fixable: boolean;
  /** The other place of a contradiction or duplicate. */
  readonly other?: { readonly file: string; readonly line?: number };
}

/** A bounded snippet that answers a query: never a whole file. */
export const Hit = z.object({
  kind: z.enum(["page", "source"]),
  /** `pages/NAME.md` or `raw/NAME`, beneath the wiki's folder. */
  file: z.string().max(300),
  startLine: z.int().min(1),
  endLine: z.int().min(1),
  /** At most 1,200 characters. */
  text: z.string().max(1_200),
  title: z.string().max(512),
  /** Enclosing headings, outermost first. */
  headings: z.array(z.string().max(256)).max(8),
  /** A page's name, or a source's origin. */
  origin: z.string().max(4_096),
  digest: Digest,
  /** Fused rank score; higher is better; not comparable between queries. */
  score: z.number(),
  colour: Colour,
  label: Label,
  /** Whether a page's sources have changed since it was written. */
  stale: z.boolean(),
}).strict();
export type Hit = z.infer<typeof Hit>;

/** The result of a query. */
export interface Found {
  readonly hits: readonly Hit[];
  /** `none`: nothing matches; `weak`: the best hit matches only in part. */
  readonly fit: "good" | "weak" | "none";
  /** What was searched, within the caller's clearance. */
  readonly searched: {
    readonly pages: number;
    readonly sources: number;
    readonly passages: number;
    readonly terms: readonly string[];
    readonly vectors: boolean;
  };
}

/** Where an agent's note is stored. */
export const NoteKind = z.enum(["taskLog", "projectWiki", "userMemory"]);
export type NoteKind = z.infer<typeof NoteKind>;

/** A note that an agent wants to keep. */
export const Note = z.object({
  /** `n` and 12 characters. */
  id: z.string().regex(/^n[0-9a-z]{12}$/),
  kind: NoteKind,
  text: z.string().min(1).max(8_192),
  /** The task that wrote it, and its agent. */
  task: z.string().max(64),
  agent: z.string().max(64),
  colour: Colour,
  label: Label,
  /** `waiting`: for a person's review. */
  state: z.enum(["kept", "waiting", "rejected"]),
  at: Millis,
  expiresAt: Millis.optional(),
}).strict();
export type Note = z.infer<typeof Note>;

/** One entry of the wiki's append-only log. */
export interface WikiEvent {
  readonly n: number;
  readonly at: number;
  /** `ingest`, `page`, `patch`, `lint`, `query`, `note`, `sanitize`, `redact`, `export`, `repair`. */
  readonly kind: string;
  readonly by: string;
  /** One line of plain words. */
  readonly text: string;
  /** SHA-256 of the previous hash and this line. */
  readonly hash: Digest;
}
