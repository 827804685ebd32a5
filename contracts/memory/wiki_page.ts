/**
 * Pages of the wiki memory, their claims and citations, and changes of them as patches.
 * Shared Resource Coordination.
 * @module
 */
import * as z from "zod";
import { Digest, Millis } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** What a page is. */
export const PageKind = z.enum(["summary", "entity", "concept", "comparison", "synthesis"]);
export type PageKind = z.infer<typeof PageKind>;

/** A page's name: `pages/NAME.md`. Letters of any script, digits, `-`; no path. */
export const PageName = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}\p{M}-]{0,119}$/u).brand<
  "PageName"
>();
export type PageName = z.infer<typeof PageName>;

/** How much a page may be relied on. `extracted`: sentences of its sources, chosen by rules. */
export const Confidence = z.enum(["extracted", "low", "medium", "high"]);
export type Confidence = z.infer<typeof Confidence>;

/** A page as the store has it: what its front matter shows is taken from here. */
export const Page = z.object({
  name: PageName,
  kind: PageKind,
  title: z.string().min(1).max(256),
  aliases: z.array(z.string().min(1).max(256)).max(64),
  /** From 1; raised by one with each change. */
  version: z.int().min(1),
  /** Of the file's bytes. */
  digest: Digest,
  bytes: z.int().min(0),
  lines: z.int().min(0),
  label: Label,
  colour: Colour,
  confidence: Confidence,
  /** Digests of what it cites. */
  sources: z.array(Digest).max(10_000),
  /** `extract`, `model:REF`, `operator`, `task:ID`, `hand`: who wrote this version. */
  author: z.string().min(1).max(256),
  /** Who has read this very version and found it right. */
  reviewed: z.object({ by: z.string().min(1).max(128), at: Millis }).strict().optional(),
  /** When its sources were last looked at, and found as cited. */
  freshAt: Millis,
  createdAt: Millis,
  updatedAt: Millis,
}).strict();
export type Page = z.infer<typeof Page>;

/** One footnote's target: lines of a source's text. */
export const Citation = z.object({
  /** The footnote's own name, without `[^` and `]`. */
  note: z.string().min(1).max(64),
  /** Of the source's raw bytes; the text in a page shows its first 16 characters. */
  source: Digest,
  startLine: z.int().min(1),
  endLine: z.int().min(1),
  /** SHA-256 of the cited lines, joined by line feeds. */
  span: Digest,
}).strict();
export type Citation = z.infer<typeof Citation>;

/** One statement of a page: a sentence or list item outside headings, code and footnotes. */
export interface Claim {
  /** Of the page's file. */
  readonly line: number;
  readonly text: string;
  /** Names of the footnotes that it refers to. */
  readonly notes: readonly string[];
}

/** What a page should become. The whole text but its front matter, which the store writes. */
export const PageDraft = z.object({
  name: PageName,
  kind: PageKind,
  title: z.string().min(1).max(256),
  aliases: z.array(z.string().min(1).max(256)).max(64),
  confidence: Confidence,
  /** Markdown: `[[links]]`, footnotes for citations. */
  body: z.string().max(200_000),
  /** Lines of front matter of other programs; absent: those of the version before stay, unless the page is `fresh`. */
  others: z.array(z.string().max(8_192)).max(1_000).optional(),
}).strict();
export type PageDraft = z.infer<typeof PageDraft>;

/** One page's change in a patch. `base` is the version it was made from, 0 for a new page. */
export const PageChange = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("write"),
    base: z.int().min(0),
    draft: PageDraft,
    /** Written from the cited sources alone: an earlier version's colour and label do not stick. */
    fresh: z.boolean(),
  }).strict(),
  z.object({ kind: z.literal("delete"), base: z.int().min(1), name: PageName }).strict(),
]);
export type PageChange = z.infer<typeof PageChange>;

/** Names a patch of pages: `w` and 12 characters. */
export const PatchName = z.string().regex(/^w[0-9a-z]{12}$/).brand<"PatchName">();
export type PatchName = z.infer<typeof PatchName>;

/** A reviewable change of pages: applied whole or not at all. */
export interface PagePatch {
  readonly id: PatchName;
  readonly author: string;
  readonly reason: string;
  readonly changes: readonly PageChange[];
  /** Of what the author had read; the pages become no better than this. */
  readonly colour: Colour;
  readonly label: Label;
  readonly state: "proposed" | "applied" | "rejected" | "conflict";
  readonly createdAt: number;
  readonly decided?: { readonly by: string; readonly at: number };
  /** Set with `conflict`. */
  readonly conflicts?: readonly PageConflict[];
}

/** Two writers touched one page. */
export interface PageConflict {
  readonly page: PageName;
  readonly expected: number;
  readonly found: number;
  /** Who wrote the version that stands, or holds the page's lease. */
  readonly by: string;
  readonly why: "version" | "lease" | "handEdit";
}

/** A person's signed word that one very version of a page is trusted more, or is less confidential. */
export const PageMark = z.object({
  page: PageName,
  digest: Digest,
  colour: Colour,
  label: Label,
  by: z.string().min(1).max(128),
  at: Millis,
  /** Raw Ed25519 public key and signature over {@link pageMarkText}, base64url. */
  key: z.string().max(64),
  signature: z.string().max(128),
}).strict();
export type PageMark = z.infer<typeof PageMark>;

/** What a {@link PageMark} signs. */
export function pageMarkText(mark: Omit<PageMark, "key" | "signature">): string {
  const { page, digest, colour, label, by, at } = mark;
  return ["remit.page-mark.v1", page, digest, colour, label, by, String(at)].join("\n");
}
