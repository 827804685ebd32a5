/**
 * Pages of the wiki memory, their claims and citations, and patches of pages.
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

/** Reliability of a page. `extracted`: sentences copied from its sources by rules. */
export const Confidence = z.enum(["extracted", "low", "medium", "high"]);
export type Confidence = z.infer<typeof Confidence>;

/** A page in the store; its front matter is generated from this. */
export const Page = z.object({
  name: PageName,
  kind: PageKind,
  title: z.string().min(1).max(256),
  aliases: z.array(z.string().min(1).max(256)).max(64),
  /** From 1; raised by one with each change. */
  version: z.int().min(1),
  /** SHA-256 of the file. */
  digest: Digest,
  bytes: z.int().min(0),
  lines: z.int().min(0),
  label: Label,
  colour: Colour,
  confidence: Confidence,
  /** Digests of cited sources. */
  sources: z.array(Digest).max(10_000),
  /** `extract`, `model:REF`, `operator`, `task:ID`, `hand`: who wrote this version. */
  author: z.string().min(1).max(256),
  /** The person who reviewed exactly this version. */
  reviewed: z.object({ by: z.string().min(1).max(128), at: Millis }).strict().optional(),
  /** When its citations were last checked and found correct. */
  freshAt: Millis,
  createdAt: Millis,
  updatedAt: Millis,
}).strict();
export type Page = z.infer<typeof Page>;

/** One footnote's target: lines of a source's text. */
export const Citation = z.object({
  /** The footnote's own name, without `[^` and `]`. */
  note: z.string().min(1).max(64),
  /** Digest of the source's raw bytes; the text in a page shows its first 16 characters. */
  source: Digest,
  startLine: z.int().min(1),
  endLine: z.int().min(1),
  /** SHA-256 of the cited lines, joined by line feeds. */
  span: Digest,
}).strict();
export type Citation = z.infer<typeof Citation>;

/** One statement of a page: a sentence or list item outside headings, code and footnotes. */
export interface Claim {
  /** Line in the page's file, from 1. */
  readonly line: number;
  readonly text: string;
  /** Names of the footnotes that it refers to. */
  readonly notes: readonly string[];
}

/** The desired content of a page, without front matter, which the store writes. */
export const PageDraft = z.object({
  name: PageName,
  kind: PageKind,
  title: z.string().min(1).max(256),
  aliases: z.array(z.string().min(1).max(256)).max(64),
  confidence: Confidence,
  /** Markdown: `[[links]]`, footnotes for citations. */
  body: z.string().max(200_000),
  /** Front matter of other programs; absent: kept from the previous version unless the page is `fresh`. */
  others: z.array(z.string().max(8_192)).max(1_000).optional(),
}).strict();
export type PageDraft = z.infer<typeof PageDraft>;

/** One page's change in a patch. `base` is the version that the change starts from, 0 for a new page. */
export const PageChange = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("write"),
    base: z.int().min(0),
    draft: PageDraft,
    /** Written from the cited sources alone: colour and label of the earlier version are not inherited. */
    fresh: z.boolean(),
  }).strict(),
  z.object({ kind: z.literal("delete"), base: z.int().min(1), name: PageName }).strict(),
]);
export type PageChange = z.infer<typeof PageChange>;

/** Names a patch of pages: `w` and 12 characters. */
export const PatchName = z.string().regex(/^w[0-9a-z]{12}$/).brand<"PatchName">();
export type PatchName = z.infer<typeof PatchName>;

/** A reviewable change of pages: applied completely or not at all. */
export interface PagePatch {
  readonly id: PatchName;
  readonly author: string;
  readonly reason: string;
  readonly changes: readonly PageChange[];
  /** Colour of the author when writing; the pages become no better. */
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
  /** Author of the current version, or holder of the page's lease. */
  readonly by: string;
  readonly why: "version" | "lease" | "handEdit";
}

/** A person's signed statement that one version of a page is trusted more or less confidential. */
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

/** The text that a {@link PageMark} signs. */
export function pageMarkText(mark: Omit<PageMark, "key" | "signature">): string {
  const { page, digest, colour, label, by, at } = mark;
  return ["remit.page-mark.v1", page, digest, colour, label, by, String(at)].join("\n");
}
