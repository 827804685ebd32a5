/** Colour and label of contents by their SHA-256, for the whole state. docs/decision/0038. @module */
import * as z from "zod";
import type { Colour, Label } from "../authority/colour.ts";
import { Digest } from "../authority/ids.ts";
import type { Json } from "../base/json.ts";
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

/** Looks contents up. */
export interface ContentLookup {
  /** The lowest colour and highest label of all that are known; BLUE and public where none is. */
  of(digests: Iterable<string>): ContentColours;
}

/** What is known of contents in one state folder. */
export interface ContentTrust extends ContentLookup {
  /**
   * Records what contents carry, durable when it returns. A content only becomes worse, unless a
   * person sanitized it. Throws Fault `storeFull`, `conflict`.
   */
  record(contents: readonly KnownContent[]): void;
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
  record: () => undefined,
  mark: () => undefined,
  close: () => undefined,
});
