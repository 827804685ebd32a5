/** The interface of document parsers. @module */

/** The text of a document before clean-up. */
export interface DocumentText {
  /** Of any size, with any characters: `tidyText` limits it. */
  readonly text: string;
  /** Empty if the document has none. */
  readonly title: string;
  /** What was left out or cut, as sentences. */
  readonly notes: readonly string[];
}

/** An HTML page as Markdown. */
export interface HtmlText extends DocumentText {
  /** Whether the page exceeded the limit of elements. */
  readonly cut: boolean;
}

/** Converts a page: whole, or only its main content. */
export type HtmlReader = (html: string, options: { readonly whole: boolean }) => HtmlText;

/**
 * Decompresses raw deflate in parts. Ends when `take` returns false or after `max` bytes, and returns
 * whether everything was decompressed. Rejects invalid deflate.
 */
export type Inflate = (
  packed: Uint8Array,
  max: number,
  take: (part: Uint8Array) => boolean,
) => Promise<boolean>;

/** Powers of the parsers. */
export interface ReadParts {
  readonly html: HtmlReader;
  readonly inflate: Inflate;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** A document to parse. */
export interface DocumentBytes {
  /** For messages only; never opened as a path. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Parses one format. Throws `invalidInput` for other formats. */
export type DocumentReader = (
  document: DocumentBytes,
  parts: ReadParts,
) => DocumentText | Promise<DocumentText>;
