/** What is read of a page's file. @module */
import type { Claim } from "../../contracts/memory/mod.ts";

/** What a page's file says, without the store. Made by read_page.ts. */
export interface ReadPage {
  /** As shown in the front matter: never believed, only compared. */
  readonly front: {
    readonly kind?: string;
    readonly title?: string;
    readonly aliases: readonly string[];
    readonly confidence?: string;
    readonly label?: string;
    readonly colour?: string;
    readonly version?: number;
    /** Lines of keys that other programs have there, as they stand. */
    readonly others: readonly string[];
    /** Sentences about what does not parse. */
    readonly problems: readonly string[];
  };
  /** Without the front matter. */
  readonly body: string;
  /** Line of the file on which the body begins. */
  readonly bodyLine: number;
  readonly claims: readonly Claim[];
  /** Footnote definitions that are citations; `digestPrefix` has 16 characters. */
  readonly citations: readonly {
    readonly note: string;
    readonly file: string;
    readonly digestPrefix: string;
    readonly startLine: number;
    readonly endLine: number;
    readonly line: number;
  }[];
  /** Footnotes whose definition is no citation, or is missing. */
  readonly brokenNotes: readonly {
    readonly note: string;
    readonly line: number;
    readonly why: string;
  }[];
  readonly links: readonly { readonly target: string; readonly line: number }[];
  readonly headings: readonly {
    readonly text: string;
    readonly level: number;
    readonly line: number;
  }[];
}
