/**
 * What the wiki's process is asked, by the command line (`remit wiki …`) and by the kernel (agents' tools).
 * One process holds one wiki: read and write of its folder and of STATE/wiki/ID, read of what is ingested, nothing else.
 * docs/decision/0013.
 *
 * | op | body | answer |
 * |---|---|---|
 * | open | {@link WikiOpen}, first of all | {@link WikiStatus} |
 * | status | `null` | {@link WikiStatus} |
 * | ingestFiles | {@link IngestFiles}: files of this machine that the process may read; tells `progress` | {@link IngestReport} |
 * | ingestGone | `{ keyPrefix, present: key[], unseen?: keyPrefix[] }` marks as removed what is no longer there; beneath `unseen` nothing | `{ removed: key[] }` |
 * | extract | `{ dryRun? }` deterministic pages of all current sources without one, or changed since | {@link ExtractReport} |
 * | workPlan | `{ model, contextTokens, of?: { keys, prefixes }, again?, clearance? }` what a model would be asked, of these sources or of all | {@link WorkPlan} |
 * | workNext | `{ run, skip?: id[] }` without those under way | {@link WorkItem} or `null` when all is done |
 * | workTaken | `{ run, item, text }` a model's answer; validated before anything is kept | `{ ok, problems: string[] }` |
 * | workFinish | `{ run, by }` one patch of all that was taken | `{ patch: PagePatch \| null, contradictions: Finding[], left: string[] }` |
 * | query | {@link WikiQuery} | Found |
 * | embedPlan | `{ embedder, limit, clearance? }` texts without a vector | `{ key, text }[]` |
 * | embedTaken | `{ embedder, vectors: { key, vector }[] }` numbers, or base64 of little-endian Float32 | `null` |
 * | answerPlan | {@link WikiQuery} | `{ found: Found, ask: WorkItem \| null }` |
 * | answerCheck | `{ question, text, found }` a model's answer | {@link CheckedAnswer} |
 * | answerFile | `{ answer: CheckedAnswer, model, by }` proposes a synthesis page | PagePatch |
 * | index | `{ clearance, after?, limit? }` the catalogue, bounded, by name | {@link IndexRow}[] |
 * | sources | `{ clearance, afterId?, limit? }` every version of every source, by number | WikiSource[] |
 * | read | `{ clearance, name, from?, lines?, version? }` `name` is a page, a `pages/…` or a `raw/…` | {@link ReadLines} |
 * | cite | `{ clearance, file, startLine, endLine }` a source's lines | {@link CiteAnswer} |
 * | check | `{ clearance, change, author? }` | CheckedDraft (tools/answers.ts): what a change would do |
 * | propose | `{ author, reason, changes, colour, label }` | PagePatch |
 * | patches | `{ state?, clearance? }` | PagePatch[] |
 * | patch | `{ id, clearance? }` | `{ patch: PagePatch, diff: string }` a unified diff of all its pages |
 * | decide | `{ id, apply, by }` | PagePatch |
 * | page | `{ clearance, name }` | `{ page: Page, history: PageVersion[], backlinks, citing }` |
 * | diff | `{ name, from, to, clearance? }` versions | `{ diff: string }` |
 * | edit | `{ name, text, base, by }` the whole file as a person saved it | PagePatch |
 * | sync | `null` takes in what was changed by hand | `{ taken, removed, problems }` |
 * | review | `{ name, version, by }` | Page |
 * | mark | PageMark: sanitize or redaction, signed | Page |
 * | lint | `{ clearance, rules? }` | Finding[] |
 * | lintPairs | `{ clearance, model }` claims that speak of the same thing, the most alike first, at most 400 | `{ id, a, b, label, colour, why? }[]`: `a`, `b` are `{ file, line, text }`; `why` where that model has judged them, empty when both can be right |
 * | lintJudged | `{ model, verdicts: { id, why }[] }` what that model said; is not asked again | `null` |
 * | lintFix | `{ by }` proposes patches for what is fixable | PagePatch[] |
 * | log | `{ afterN?, limit? }` | WikiEvent[] |
 * | logVerify | `null` | `{ problem: string \| null }` |
 * | note | `{ kind, text, task, agent, colour, label, state, expiresAt? }` | Note |
 * | notes | as `NoteTable.list` | Note[] |
 * | noteDecide | `{ id, keep, by }` | Note |
 * | exportSite | `{ clearance, to }` files of a static site, told as `file` events `{ path, text }`; `to` is only recorded | {@link ExportReport} |
 * | reindex | `null` builds the search index anew from files | {@link WikiStatus} |
 *
 * It asks its starter: `parse` {@link ParseAsk} → {@link Parsed} (a process without permissions does it);
 * `contentKnown` `{ digest }` → {@link ContentColours} and `contentRecord` {@link WikiContents} → `null`: what the
 * whole state knows of contents (docs/decision/0038).
 * It tells its starter: `progress` {@link IngestProgress}, `file`.
 * @module
 */
import * as z from "zod";
import { Digest } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";
import { Citation, PageName } from "../memory/wiki_page.ts";
import { SourceKind, SourceOrigin } from "../memory/wiki_source.ts";
import type { PortLimits } from "../base/port.ts";

/** Both ends of the wiki's pipe have these: a `parse` request carries 32 MiB as base64. */
export const WIKI_PORT_LIMITS: Partial<PortLimits> = Object.freeze({
  frameBytes: 64 * 1_048_576,
  nodes: 4_000_000,
});

/** First request. */
export const WikiOpen = z.object({
  /** Absolute and real. */
  folder: z.string().min(1).max(4_096),
  stateFolder: z.string().min(1).max(4_096),
  /** Make what is missing of raw/, pages/, index.md, log.md, AGENTS.md; else a folder without them is `notFound`. */
  create: z.boolean(),
  /** Raw Ed25519 public keys, base64url, whose page marks hold. */
  trustedKeys: z.array(z.string().max(64)).max(16),
  /** Nothing is changed: not even hand edits are taken in. */
  readOnly: z.boolean(),
}).strict();
export type WikiOpen = z.infer<typeof WikiOpen>;

/** How a wiki stands. */
export interface WikiStatus {
  readonly folder: string;
  readonly pages: number;
  readonly sources: number;
  readonly passages: number;
  readonly generation: number;
  /** `fresh`, `behind` by so many changes, or `missing`. */
  readonly index: "fresh" | "behind" | "missing";
  /** What the opening repaired, sentences. */
  readonly repaired: readonly string[];
  readonly patches: number;
  readonly notesWaiting: number;
}

/** Files to take in. */
export const IngestFiles = z.object({
  files: z.array(
    z.object({
      /** Absolute; read by the wiki's process itself. */
      path: z.string().min(1).max(4_096),
      key: z.string().min(1).max(4_200),
      kind: SourceKind,
      /** Shown in messages and taken as the title where the text has none. */
      name: z.string().min(1).max(512),
      origin: z.string().min(1).max(4_096),
      /** What an export's list beside the file says of its bytes: makes it worse, never better. */
      claimed: z.object({ colour: Colour, label: Label }).strict().optional(),
    }).strict(),
  ).max(2_000),
  label: Label,
  colour: Colour,
  owner: z.string().max(128),
  by: SourceOrigin.shape.by,
  expiresAt: z.int().optional(),
  /** A file above this is reported, not taken; bytes. */
  maxBytes: z.int().min(1).max(1_000_000_000),
}).strict();
export type IngestFiles = z.infer<typeof IngestFiles>;

/** One file's fate. */
export interface IngestProgress {
  readonly name: string;
  readonly did: "new" | "changed" | "unchanged" | "failed";
  readonly why?: string;
  /** What was left out of it, or how it was read where that is a guess. Sentences. */
  readonly notes?: readonly string[];
}

/** What became of a batch. */
export interface IngestReport {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: readonly { readonly name: string; readonly why: string }[];
  /** What was left out of files that were taken in. */
  readonly noted?: readonly { readonly name: string; readonly notes: readonly string[] }[];
}

/** The wiki's process → its starter: make text of these bytes, in a process without permissions. */
export interface ParseAsk {
  readonly kind: SourceKind;
  readonly name: string;
  /** Base64, at most 32 MiB of bytes. */
  readonly bytes: string;
}

/** The wiki's process → its starter: what bytes that it made, or took in, carry. */
export const WikiContents = z.object({
  contents: z.array(
    z.object({
      digest: Digest,
      colour: Colour,
      label: Label,
      /** A person signed for exactly these bytes: they are this, better or worse. */
      signed: z.boolean(),
    }).strict(),
  ).max(1_000),
}).strict();
export type WikiContents = z.infer<typeof WikiContents>;

/** Text of a document, UTF-8, lines ended by line feeds, at most 16 MiB. */
export const Parsed = z.object({
  text: z.string().max(16_777_216),
  title: z.string().max(512),
  /** `NAME@VERSION`. */
  parser: z.string().max(128),
  /** What was left out or cut, sentences. */
  notes: z.array(z.string().max(512)).max(64),
}).strict();
export type Parsed = z.infer<typeof Parsed>;

/** What the deterministic ingest made. */
export interface ExtractReport {
  readonly written: readonly string[];
  readonly unchanged: number;
  readonly conflicts: readonly string[];
}

/** What a model ingest would take. */
export interface WorkPlan {
  readonly run: string;
  readonly sources: number;
  readonly items: number;
  /** Already answered by an earlier, interrupted run. */
  readonly done: number;
  /** Of the items that are still to be asked, estimates. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly label: Label;
}

/** One request for a language model. */
export interface WorkItem {
  readonly id: string;
  readonly source: string;
  readonly system: string;
  readonly user: string;
  /** JSON Schema as text; the answer is validated against it and more. */
  readonly responseSchema?: string;
  readonly maxTokens: number;
  /** Of all that the request holds. */
  readonly label: Label;
  readonly colour: Colour;
}

/** Most phrasings of one question. */
export const MAX_PHRASINGS = 5;

/** A question. */
export const WikiQuery = z.object({
  text: z.string().min(1).max(4_096),
  k: z.int().min(1).max(100),
  clearance: Label,
  /** The same question in other words, such as a model's: searched together with it, and never evidence. */
  queries: z.array(z.string().min(1).max(1_024)).max(MAX_PHRASINGS).optional(),
  /** The question's own vector, where the wiki has some. */
  vector: z.object({ embedder: z.string().max(256), values: z.array(z.number()).max(4_096) })
    .strict()
    .optional(),
  /** Look through pages, sources or both; absent: both. */
  within: z.enum(["pages", "sources"]).optional(),
}).strict();
export type WikiQuery = z.infer<typeof WikiQuery>;

/** A model's answer, sentence by sentence: each is cited, and the citation checked, or marked. */
export const CheckedAnswer = z.object({
  question: z.string().max(4_096),
  sentences: z.array(
    z.object({
      text: z.string().max(4_096),
      citations: z.array(Citation.extend({ file: z.string().max(300) })).max(16),
      /** No citation that holds. */
      uncited: z.boolean(),
    }).strict(),
  ).max(200),
  colour: Colour,
  label: Label,
  /** Citations that named nothing that was shown, or lines that are not there. */
  dropped: z.int().min(0),
}).strict();
export type CheckedAnswer = z.infer<typeof CheckedAnswer>;

/** A row of the catalogue. */
export interface IndexRow {
  readonly name: string;
  readonly title: string;
  readonly kind: string;
  /** The first sentence of its body, at most 160 characters. */
  readonly about: string;
  readonly colour: Colour;
  readonly label: Label;
  readonly stale: boolean;
}

/** Lines of a page or source. */
export const ReadLines = z.object({
  file: z.string().max(300),
  from: z.int().min(1),
  to: z.int().min(0),
  of: z.int().min(0),
  /** At most 65,536 bytes. */
  text: z.string(),
  digest: Digest,
  colour: Colour,
  label: Label,
  /** Of a page. */
  name: PageName.optional(),
  version: z.int().optional(),
}).strict();
export type ReadLines = z.infer<typeof ReadLines>;

/** A footnote that holds. */
export interface CiteAnswer {
  /** `[^N]: [raw/…](../raw/…#L3-L5) lines 3-5 of sha256:…`, for N = `note`. */
  readonly definition: string;
  readonly citation: Citation;
  readonly text: string;
  readonly colour: Colour;
  readonly label: Label;
}

/** What an export wrote. */
export interface ExportReport {
  readonly files: number;
  readonly pages: number;
  readonly sources: number;
  readonly colour: Colour;
  readonly label: Label;
}
