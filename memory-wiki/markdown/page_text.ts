/** The result of parsing a page's file. @module */
import type { Claim } from "../../contracts/memory/mod.ts";

/** A parsed page file, without the store's data. Made by read_page.ts. */
export interface ReadPage {
  /** As shown in the front matter: never trusted, only compared. */
  readonly front: {
    readonly kind?: string;
    readonly title?: string;
    readonly aliases: readonly string[];
    readonly confidence?: string;
    readonly label?: string;
    readonly colour?: string;
    readonly version?: number;
    /** Lines of other programs' keys, unchanged. */
    readonly others: readonly string[];
    /** Syntax errors as sentences. */
    readonly problems: readonly string[];
  };
  /** Without the front matter. */
  readonly body: string;
  /** Line of the file at which the body begins. */
  readonly bodyLine: number;
  readonly claims: readonly Claim[];
  /** Citation footnotes; `digestPrefix` has 16 characters. */
  readonly citations: readonly {
    readonly note: string;
    readonly file: string;
    readonly digestPrefix: string;
    readonly startLine: number;
    readonly endLine: number;
    readonly line: number;
  }[];
  /** Footnotes with an invalid definition or none. */
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
