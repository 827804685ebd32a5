/**
 * Requests to the wiki's process, from the command line (`remit wiki …`) and from the kernel
 * (agents' tools). One process holds one wiki: it reads and writes the wiki's folder and
 * STATE/wiki/ID, reads the ingested files, and has no other access. docs/decision/0013.
 *
 * A source's `key` names it across versions: `file:/abs/path`, a URL, `stdin:NAME`, `answer:PAGE`.
 * Types without a link: Finding, Found, Note and WikiEvent are in contracts/memory/wiki.ts; Page,
 * PageMark and PagePatch in contracts/memory/wiki_page.ts; WikiSource in
 * contracts/memory/wiki_source.ts; PageVersion in memory-wiki/store/wiki_store.ts; CheckedDraft in
 * memory-wiki/tools/answers.ts.
 *
 * | op | body | answer |
 * |---|---|---|
 * | open | {@link WikiOpen}, first | {@link WikiStatus} |
 * | status | `null` | {@link WikiStatus} |
 * | ingestFiles | {@link IngestFiles}: files of this machine that the process may read; tells `progress` | {@link IngestReport} |
 * | ingestGone | `{ keyPrefix, present: key[], unseen?: keyPrefix[] }` marks missing sources as removed, except beneath `unseen` | `{ removed: key[] }` |
 * | extract | `{ dryRun? }` deterministic pages of all current sources without one, or changed since | {@link ExtractReport} |
 * | workPlan | `{ model, contextTokens, of?: { keys, prefixes }, again?, clearance? }` the requests to a model about these sources or all | {@link WorkPlan} |
 * | workNext | `{ run, skip?: id[] }` without the running items | {@link WorkItem} or `null` when all is done |
 * | workTaken | `{ run, item, text }` a model's answer; validated before it is stored | `{ ok, problems: string[] }` |
 * | workFinish | `{ run, by }` one patch of all accepted answers | `{ patch: PagePatch \| null, contradictions: Finding[], left: string[] }` |
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
 * | check | `{ clearance, change, author? }` | CheckedDraft: the effect of a change |
 * | propose | `{ author, reason, changes, colour, label }` | PagePatch |
 * | patches | `{ state?, clearance? }` | PagePatch[] |
 * | patch | `{ id, clearance? }` | `{ patch: PagePatch, diff: string }` a unified diff of all its pages |
 * | decide | `{ id, apply, by }` | PagePatch |
 * | page | `{ clearance, name }` | `{ page: Page, history: PageVersion[], backlinks, citing }` |
 * | diff | `{ name, from, to, clearance? }` versions | `{ diff: string }` |
 * | edit | `{ name, text, base, by }` the complete file as a person saved it | PagePatch |
 * | sync | `null`: imports changes made by hand | `{ taken, removed, problems }` |
 * | review | `{ name, version, by }` | Page |
 * | mark | PageMark: sanitize or redaction, signed | Page |
 * | lint | `{ clearance, rules? }` | Finding[] |
 * | lintPairs | `{ clearance, model }` pairs of claims on the same subject, most similar first, at most 400 | `{ id, a, b, label, colour, why? }[]`: `a`, `b` are `{ file, line, text }`; `why`: that model's judgement, empty if both can be right |
 * | lintJudged | `{ model, verdicts: { id, why }[] }` that model's judgements, which are stored | `null` |
 * | lintFix | `{ by }` proposes patches for fixable findings | PagePatch[] |
 * | log | `{ afterN?, limit? }` | WikiEvent[] |
 * | logVerify | `null` | `{ problem: string \| null }` |
 * | note | `{ kind, text, task, agent, colour, label, state, expiresAt? }` | Note |
 * | notes | as `NoteTable.list` (memory-wiki/store/note_table.ts) | Note[] |
 * | noteDecide | `{ id, keep, by }` | Note |
 * | exportSite | `{ clearance, to }` files of a static site, sent as `file` events `{ path, text }`; `to` is only recorded | {@link ExportReport} |
 * | reindex | `null`: rebuilds the search index from files | {@link WikiStatus} |
 *
 * It asks its starter: `parse` {@link ParseAsk} → {@link Parsed} (run in a process without
 * permissions); `contentKnown` `{ digest }` → {@link ContentColours} and `contentRecord` {@link
 * WikiContents} → `null`: the known contents of the whole state (docs/decision/0038).
 * It tells its starter: `progress` {@link IngestProgress}, `file`.
 * @module
 */
import * as z from "zod";
import { Digest } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";
import { Citation, PageName } from "../memory/wiki_page.ts";
import { SourceKind, SourceOrigin } from "../memory/wiki_source.ts";
import type { PortLimits } from "../base/port.ts";

/** Port limits at both ends of the wiki's pipe: a `parse` request carries 32 MiB as base64. */
export const WIKI_PORT_LIMITS: Partial<PortLimits> = Object.freeze({
  frameBytes: 64 * 1_048_576,
  nodes: 4_000_000,
});

/** First request. */
export const WikiOpen = z.object({
  /** Absolute and real. */
  folder: z.string().min(1).max(4_096),
  stateFolder: z.string().min(1).max(4_096),
  /** Create missing raw/, pages/, index.md, log.md and AGENTS.md; otherwise a folder without them is `notFound`. */
  create: z.boolean(),
  /** Raw Ed25519 public keys, base64url, whose page marks are trusted. */
  trustedKeys: z.array(z.string().max(64)).max(16),
  /** Change nothing; do not even import hand edits. */
  readOnly: z.boolean(),
}).strict();
export type WikiOpen = z.infer<typeof WikiOpen>;

/** Status of a wiki. */
export interface WikiStatus {
  readonly folder: string;
  readonly pages: number;
  readonly sources: number;
  readonly passages: number;
  /** Increases with each change of pages or sources. */
  readonly generation: number;
  /** State of the search index. */
  readonly index: "fresh" | "behind" | "missing";
  /** Sentences about repairs made when opening. */
  readonly repaired: readonly string[];
  readonly patches: number;
  readonly notesWaiting: number;
}

/** Files to ingest. */
export const IngestFiles = z.object({
  files: z.array(
    z.object({
      /** Absolute; read by the wiki's process itself. */
      path: z.string().min(1).max(4_096),
      key: z.string().min(1).max(4_200),
      kind: SourceKind,
      /** Shown in messages, and used as the title if the text has none. */
      name: z.string().min(1).max(512),
      origin: z.string().min(1).max(4_096),
      /** The claim of an export's list about the file; it can only lower trust. */
      claimed: z.object({ colour: Colour, label: Label }).strict().optional(),
    }).strict(),
  ).max(2_000),
  label: Label,
  colour: Colour,
  owner: z.string().max(128),
  by: SourceOrigin.shape.by,
  expiresAt: z.int().optional(),
  /** Larger files are reported and not ingested; bytes. */
  maxBytes: z.int().min(1).max(1_000_000_000),
}).strict();
export type IngestFiles = z.infer<typeof IngestFiles>;

/** The result for one file. */
export interface IngestProgress {
  readonly name: string;
  readonly did: "new" | "changed" | "unchanged" | "failed";
  readonly why?: string;
  /** Sentences about omitted parts, or about a guessed format. */
  readonly notes?: readonly string[];
}

/** The result for a batch of files. */
export interface IngestReport {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: readonly { readonly name: string; readonly why: string }[];
  /** Omitted parts of ingested files. */
  readonly noted?: readonly { readonly name: string; readonly notes: readonly string[] }[];
}

/** The wiki's process → its starter: extract the text of these bytes in a process without permissions. */
export interface ParseAsk {
  readonly kind: SourceKind;
  readonly name: string;
  /** Base64, at most 32 MiB of bytes. */
  readonly bytes: string;
}

/** The wiki's process → its starter: colours and labels of contents that it wrote or ingested. */
export const WikiContents = z.object({
  contents: z.array(
    z.object({
      digest: Digest,
      colour: Colour,
      label: Label,
      /** Whether a person signed exactly these values for these bytes, even if they raise trust. */
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
  /** Sentences about omitted or cut parts. */
  notes: z.array(z.string().max(512)).max(64),
}).strict();
export type Parsed = z.infer<typeof Parsed>;

/** The result of the deterministic extraction. */
export interface ExtractReport {
  readonly written: readonly string[];
  readonly unchanged: number;
  readonly conflicts: readonly string[];
}

/** The cost of an ingest with a model. */
export interface WorkPlan {
  readonly run: string;
  readonly sources: number;
  readonly items: number;
  /** Already answered by an earlier, interrupted run. */
  readonly done: number;
  /** Estimates for the remaining items. */
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
  /** JSON Schema as text; the answer is validated against it and further rules. */
  readonly responseSchema?: string;
  readonly maxTokens: number;
  /** Label and colour of everything in the request. */
  readonly label: Label;
  readonly colour: Colour;
}

/** Maximum number of phrasings of one question. */
export const MAX_PHRASINGS = 5;

/** A question. */
export const WikiQuery = z.object({
  text: z.string().min(1).max(4_096),
  k: z.int().min(1).max(100),
  clearance: Label,
  /** The same question in other words, such as a model's: searched as well, never used as evidence. */
  queries: z.array(z.string().min(1).max(1_024)).max(MAX_PHRASINGS).optional(),
  /** The question's vector, if the wiki has vectors. */
  vector: z.object({ embedder: z.string().max(256), values: z.array(z.number()).max(4_096) })
    .strict()
    .optional(),
  /** Search pages or sources; absent: both. */
  within: z.enum(["pages", "sources"]).optional(),
}).strict();
export type WikiQuery = z.infer<typeof WikiQuery>;

/** A model's answer by sentences, each with checked citations or marked as uncited. */
export const CheckedAnswer = z.object({
  question: z.string().max(4_096),
  sentences: z.array(
    z.object({
      text: z.string().max(4_096),
      citations: z.array(Citation.extend({ file: z.string().max(300) })).max(16),
      /** Whether the sentence has no valid citation. */
      uncited: z.boolean(),
    }).strict(),
  ).max(200),
  colour: Colour,
  label: Label,
  /** Number of citations of things that were not shown, or of missing lines. */
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
  /** Lines in all. */
  of: z.int().min(0),
  /** At most 65,536 bytes. */
  text: z.string(),
  digest: Digest,
  colour: Colour,
  label: Label,
  /** For a page. */
  name: PageName.optional(),
  version: z.int().optional(),
}).strict();
export type ReadLines = z.infer<typeof ReadLines>;

/** A valid footnote. */
export interface CiteAnswer {
  /** `[^N]: [raw/…](../raw/…#L3-L5) lines 3-5 of sha256:…`, for N = `citation.note`. */
  readonly definition: string;
  readonly citation: Citation;
  readonly text: string;
  readonly colour: Colour;
  readonly label: Label;
}

/** The result of an export. */
export interface ExportReport {
  readonly files: number;
  readonly pages: number;
  readonly sources: number;
  readonly colour: Colour;
  readonly label: Label;
}
