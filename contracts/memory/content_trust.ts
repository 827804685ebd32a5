/** Colour and label of contents by their SHA-256, for the whole state. docs/decision/0038. @module */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { Digest, Millis, TaskId } from "../authority/ids.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { WikiContents } from "../wire/wire_wiki.ts";

/** How far a content is trusted, and how confidential it is. */
export interface ContentColours {
  readonly colour: Colour;
  readonly label: Label;
}

/** A content that leaves whoever knew what it carries: it is in a folder, or was released. */
export interface KnownContent extends ContentColours {
  /** SHA-256 of the whole content, lower-case hex. */
  readonly digest: string;
  /** Size of the content. Below {@link TRIVIAL_BYTES} nothing is recorded. */
  readonly bytes: number;
  /** The colour that a person's signed yes to exactly these bytes gives them; the label stays. */
  readonly sanitized?: Colour;
}

/**
 * Contents below this are not recorded: a file of a line break, `{}` or a version number is the
 * same in many folders, and one untrusted task would lower all of them.
 */
export const TRIVIAL_BYTES = 16;

/** What a person can sanitize, item by item: what a call answered, or the bytes of a file. */
export const SanitizedKind = z.enum(["result", "file"]);
/** See {@link SanitizedKind}. */
export type SanitizedKind = z.infer<typeof SanitizedKind>;

/** A person's word that exactly these bytes are trusted further, signed with the passphrase key. */
export const SanitizeMark = z.object({
  kind: SanitizedKind,
  /** For people: `TASK/CALL`, an artifact, a path. */
  name: z.string().min(1).max(512),
  task: TaskId.optional(),
  /** SHA-256 of the bytes: of a result's text in UTF-8, of a file as it is. */
  digest: Digest,
  bytes: z.int().min(TRIVIAL_BYTES).max(1_000_000_000),
  /** How the item stood. The label stays as it was. */
  from: z.object({ colour: Colour, label: Label }).strict(),
  to: z.enum(["BLUE", "YELLOW"]),
  by: z.string().min(1).max(128),
  at: Millis,
  /** Raw Ed25519 public key, base64url. */
  key: z.string().max(64),
  signature: z.string().max(128),
}).strict();
/** See {@link SanitizeMark}. */
export type SanitizeMark = z.infer<typeof SanitizeMark>;

/** What is signed, as JSON: all of a mark but its signature, and what it is for. */
export function sanitizeClaim(mark: Omit<SanitizeMark, "signature">): JsonObject {
  const { kind, name, task, digest, bytes, from, to, by, at, key } = mark;
  const of = task === undefined ? {} : { task };
  return { sanitizes: kind, name, ...of, digest, bytes, from: { ...from }, to, by, at, key };
}

/** Where the act stands in the log: chain, event, and that event's hash. */
export interface Sanitized {
  readonly chain: string;
  readonly n: number;
  readonly hash: string;
}

/** Items by kind and digest, as a command line asks what is known and was signed of them. */
export const SignedAsk = z.object({
  items: z.array(z.object({ kind: SanitizedKind, digest: Digest }).strict()).max(1_000),
}).strict();

/** Tells of each item what is known of such bytes as a file, and what was signed; null: nobody signed. */
export function tellSigned(
  contents: ContentLookup & SignedContents,
  { items }: z.infer<typeof SignedAsk>,
): object {
  return {
    items: items.map(({ kind, digest }) => ({
      known: contents.of([digest]),
      signed: contents.signed(kind, digest) ?? null,
    })),
  };
}

/** Looks contents up. */
export interface ContentLookup {
  /** The lowest colour and highest label of all that are known; BLUE and public where none is. */
  of(digests: Iterable<string>): ContentColours;
}

/** Finds what a person signed for one item alone. */
export interface SignedContents {
  /** The colour that a person's own `sanitize` gives exactly these bytes of this kind; undefined: nobody signed. */
  signed(kind: SanitizedKind, digest: string): Colour | undefined;
}

/** What is known of contents in one state folder. */
export interface ContentTrust extends ContentLookup, SignedContents {
  /**
   * Records what contents carry, durable when it returns. A content only becomes worse, unless a
   * person sanitized it. Throws Fault `storeFull`, `conflict`.
   */
  record(contents: readonly KnownContent[]): void;
  /** Takes a person's `sanitize` of one item in: its signature was checked. */
  sanitize(mark: Pick<SanitizeMark, "kind" | "digest" | "bytes" | "from" | "to">): void;
  /** Sets what a person signed for exactly this content, better or worse. */
  mark(digest: string, signed: ContentColours): void;
  close(): void;
}

/** Serves what a wiki's process asks of contents; undefined for another request. Throws for a bad one. */
export function serveContents(
  contents: Pick<ContentTrust, "of" | "record" | "mark">,
  op: string,
  body: unknown,
): Json | undefined {
  if (op === "contentKnown") {
    return { ...contents.of([z.object({ digest: Digest }).parse(body).digest]) };
  }
  if (op !== "contentRecord") return undefined;
  const told = WikiContents.parse(body).contents;
  for (const { digest, colour, label, signed } of told) {
    if (signed) contents.mark(digest, { colour, label });
  }
  // Its own small ones a wiki does not tell.
  contents.record(
    told.filter(({ signed }) => !signed).map((each) => ({ ...each, bytes: TRIVIAL_BYTES })),
  );
  return null;
}

/** Nothing is known, and nothing is kept: for what has no state folder. */
export const NOTHING_KNOWN: ContentTrust = Object.freeze<ContentTrust>({
  of: () => ({ colour: "BLUE", label: "public" }),
  signed: () => undefined,
  record: () => undefined,
  sanitize: () => undefined,
  mark: () => undefined,
  close: () => undefined,
});
