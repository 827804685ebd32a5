/** What the wiki memory tells: findings, passages that were found, notes, its record. @module */
import * as z from "zod";
import { Digest, Millis } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** Every rule of the lint. */
export const LINT_RULES = [
  "missingCitation", // a claim without one
  "brokenCitation", // its source, lines or digest are not there
  "changedSource", // the source has a newer version without the cited words, or was removed
  "alteredSource", // raw bytes are not what was ingested
  "stalePage",
  "orphanPage",
  "brokenLink",
  "duplicatePage",
  "misquote", // words in quotes that do not stand in the cited lines, or stand there with a negation
  "contradiction",
  "untrustedClaim", // all of its sources are RED
  "labelDrift", // front matter shows another label than the store has
  "colourDrift",
  "longPage",
  "frontMatter",
  "handEdit", // a file that was changed past the store
  "expiredSource",
  "logAltered",
] as const;
/** One of {@link LINT_RULES}. */
export type LintRule = (typeof LINT_RULES)[number];

/** One thing that the lint found. */
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
  /** The other place, of a contradiction or a duplicate. */
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
  /** The headings above it, outermost first. */
  headings: z.array(z.string().max(256)).max(8),
  /** Of a page: its name. Of a source: where it came from. */
  origin: z.string().max(4_096),
  digest: Digest,
  /** Fused rank score; higher is better; of different queries they do not compare. */
  score: z.number(),
  colour: Colour,
  label: Label,
  /** Set for a page whose sources have changed since. */
  stale: z.boolean(),
}).strict();
export type Hit = z.infer<typeof Hit>;

/** What a query found. */
export interface Found {
  readonly hits: readonly Hit[];
  /** `none`: nothing fits; `weak`: the best fits in part only. */
  readonly fit: "good" | "weak" | "none";
  /** What was looked through, for the caller's clearance. */
  readonly searched: {
    readonly pages: number;
    readonly sources: number;
    readonly passages: number;
    readonly terms: readonly string[];
    readonly vectors: boolean;
  };
}

/** Where a note of an agent's goes. */
export const NoteKind = z.enum(["taskLog", "projectWiki", "userMemory"]);
export type NoteKind = z.infer<typeof NoteKind>;

/** What an agent wished to remember. */
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

/** One step on the wiki's append-only record. */
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
