/**
 * Sources of the wiki memory: immutable bytes with digest, label, colour and origin.
 * @module
 */
import * as z from "zod";
import { Digest, Millis } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** Formats that sources are read from. */
export const SourceKind = z.enum([
  "markdown",
  "text",
  "code",
  "csv",
  "json",
  "html",
  "pdf",
  "docx",
  "epub",
  "mail",
]);
export type SourceKind = z.infer<typeof SourceKind>;

/** Kinds whose own lines are cited; other kinds have an extracted text beside the raw bytes. */
export const TEXT_KINDS: ReadonlySet<SourceKind> = new Set([
  "markdown",
  "text",
  "code",
  "csv",
  "json",
]);

/** Where a source came from. */
export const SourceOrigin = z.object({
  /** An absolute path, a URL, or `-` for standard input. */
  origin: z.string().min(1).max(4_096),
  /** `operator`, or the task that brought it. */
  by: z.string().min(1).max(128),
  retrievedAt: Millis,
  /** The parser that extracted the text, `NAME@VERSION`; absent where the bytes are text. */
  parser: z.string().max(128).optional(),
}).strict();
export type SourceOrigin = z.infer<typeof SourceOrigin>;

/** One immutable version of one source. */
export const WikiSource = z.object({
  /** Number of this version in this wiki. */
  id: z.int().min(1),
  /** Names the source across versions: `file:/abs/path`, a URL, `stdin:NAME`, `answer:PAGE`. */
  key: z.string().min(1).max(4_200),
  version: z.int().min(1),
  /** SHA-256 of the raw bytes. */
  digest: Digest,
  /** SHA-256 of the bytes whose lines are cited; equal to `digest` for {@link TEXT_KINDS}. */
  textDigest: Digest,
  kind: SourceKind,
  title: z.string().max(512),
  /** `raw/NAME`, beneath the wiki's folder; never changes. */
  raw: z.string().min(5).max(300),
  /** `raw/NAME`: the file whose lines are cited. */
  text: z.string().min(5).max(300),
  bytes: z.int().min(0),
  lines: z.int().min(0),
  label: Label,
  colour: Colour,
  owner: z.string().max(128),
  provenance: SourceOrigin,
  /** `removed`: the origin is gone; the bytes stay and citations remain valid. */
  state: z.enum(["current", "superseded", "removed"]),
  ingestedAt: Millis,
  /** When searches stop returning the source. */
  expiresAt: Millis.optional(),
}).strict();
export type WikiSource = z.infer<typeof WikiSource>;
