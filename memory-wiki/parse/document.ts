/** What every reader of a format is given, and what it gives. @module */

/** A document's text before it is tidied. */
export interface DocumentText {
  /** Of any size and with any characters: tidy_text.ts makes it fit. */
  readonly text: string;
  /** Empty where the document names none. */
  readonly title: string;
  /** What was left out or cut, sentences. */
  readonly notes: readonly string[];
}

/** An HTML page as Markdown. */
export interface HtmlText extends DocumentText {
  /** It had more parts than are read. */
  readonly cut: boolean;
}

/** How a page is written: whole, or only what it marks as its content. */
export type HtmlReader = (html: string, options: { readonly whole: boolean }) => HtmlText;

/**
 * Unpacks raw deflate, a part at a time. Ends when `take` says false, or after `most` bytes, and says
 * whether that was all of it. Rejects what is no deflate.
 */
export type Inflate = (
  packed: Uint8Array,
  most: number,
  take: (part: Uint8Array) => boolean,
) => Promise<boolean>;

/** What readers are given of the process. */
export interface ReadParts {
  readonly html: HtmlReader;
  readonly inflate: Inflate;
  /** Milliseconds of a steady clock. */
  readonly now: () => number;
}

/** A document as it came. */
export interface DocumentBytes {
  /** For messages: never a path that anything opens. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Reads one format. Throws a Fault `invalidInput` for what is none of that format. */
export type DocumentReader = (
  document: DocumentBytes,
  parts: ReadParts,
) => DocumentText | Promise<DocumentText>;
