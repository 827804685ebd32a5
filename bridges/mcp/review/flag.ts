/** What a reviewer is warned of. @module */

/** The kinds of warning, and the words for each in a table. */
export const FLAG_WORDS = Object.freeze(
  {
    hidden: "hidden characters",
    escape: "terminal codes",
    orders: "instructs the model",
    secrets: "asks for secrets",
    conversation: "asks for the conversation",
    otherTool: "speaks of other tools",
    lookAlike: "look-alike name",
    copy: "copies another tool",
    link: "suspicious link",
    blob: "encoded text",
    command: "shell command",
    markup: "markup",
    long: "over-long text",
    schema: "schema trick",
    claim: "contradicts itself",
    nonAscii: "unusual letters",
    renamed: "renamed",
  } as const,
);

/** One of the keys of {@link FLAG_WORDS}. */
export type FlagKind = keyof typeof FLAG_WORDS;

/** A warning. `where` and `shown` hold untrusted fragments: for a person through `displayText` only. */
export interface ToolFlag {
  readonly what: FlagKind;
  /** Where it was found: `description`, `parameter "path"`, `name`. */
  readonly where: string;
  /** What was found, in a sentence. */
  readonly shown: string;
}
