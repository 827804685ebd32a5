/** Colour and label of contents by SHA-256, for a whole state folder. docs/decision/0038. @module */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { Digest, Millis, TaskId } from "../authority/ids.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { WikiContents } from "../wire/wire_wiki.ts";

/** Trust (colour) and confidentiality (label) of a content. */
export interface ContentColours {
  readonly colour: Colour;
  readonly label: Label;
}

/** A content that has left the kernel's tracking: written to a folder, or released. */
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

/** What a person can sanitize: the result of a call, or the bytes of a file. */
export const SanitizedKind = z.enum(["result", "file"]);
export type SanitizedKind = z.infer<typeof SanitizedKind>;

/** A person's statement, signed with the passphrase key, that exactly these bytes are trusted more. */
export const SanitizeMark = z.object({
  kind: SanitizedKind,
  /** For people: `TASK/CALL`, an artifact, a path. */
  name: z.string().min(1).max(512),
  task: TaskId.optional(),
  /** SHA-256 of a result's text in UTF-8, or of a file's bytes. */
  digest: Digest,
  bytes: z.int().min(TRIVIAL_BYTES).max(1_000_000_000),
  /** Colour and label before; the label does not change. */
  from: z.object({ colour: Colour, label: Label }).strict(),
  to: z.enum(["BLUE", "YELLOW"]),
  by: z.string().min(1).max(128),
  at: Millis,
  /** Raw Ed25519 public key, base64url. */
  key: z.string().max(64),
  signature: z.string().max(128),
}).strict();
export type SanitizeMark = z.infer<typeof SanitizeMark>;

/** The signed claim: all fields of a mark except its signature. */
export function sanitizeClaim(mark: Omit<SanitizeMark, "signature">): JsonObject {
  const { kind, name, task, digest, bytes, from, to, by, at, key } = mark;
  const of = task === undefined ? {} : { task };
  return { sanitizes: kind, name, ...of, digest, bytes, from: { ...from }, to, by, at, key };
}

/** Position of the act in the log: chain, event number, event hash. */
export interface Sanitized {
  readonly chain: string;
  readonly n: number;
  readonly hash: string;
}

/** A query of the command line for the known and signed colours of items. */
export const SignedAsk = z.object({
  items: z.array(z.object({ kind: SanitizedKind, digest: Digest }).strict()).max(1_000),
}).strict();

/** Answers a query: for each item the known colours of a file with these bytes, and the signed colour or null. */
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

/** Lookup of contents by digest. */
export interface ContentLookup {
  /** The lowest colour and highest label of all known contents; BLUE and public if none is known. */
  of(digests: Iterable<string>): ContentColours;
}

/** Lookup of signed colours. */
export interface SignedContents {
  /** The colour that a person's `sanitize` gave exactly these bytes; undefined if nobody signed. */
  signed(kind: SanitizedKind, digest: string): Colour | undefined;
}

/** The known contents of one state folder. */
export interface ContentTrust extends ContentLookup, SignedContents {
  /**
   * Records colours and labels of contents; durable when it returns. A content only becomes worse
   * unless a person sanitized it. Throws Fault `storeFull`, `conflict`.
   */
  record(contents: readonly KnownContent[]): void;
  /** Records a person's `sanitize` of one item, whose signature the caller has checked. */
  sanitize(mark: Pick<SanitizeMark, "kind" | "digest" | "bytes" | "from" | "to">): void;
  /** Sets the colour and label that a person signed for this content, better or worse. */
  mark(digest: string, signed: ContentColours): void;
  close(): void;
}

/** Serves a wiki process's requests about contents; undefined for other requests. Throws on invalid bodies. */
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
  // A wiki does not report its own trivial contents, so each counts as large enough to record.
  contents.record(
    told.filter(({ signed }) => !signed).map((each) => ({ ...each, bytes: TRIVIAL_BYTES })),
  );
  return null;
}

/** Knows and stores nothing; used without a state folder. */
export const NOTHING_KNOWN: ContentTrust = Object.freeze<ContentTrust>({
  of: () => ({ colour: "BLUE", label: "public" }),
  signed: () => undefined,
  record: () => undefined,
  sanitize: () => undefined,
  mark: () => undefined,
  close: () => undefined,
});
