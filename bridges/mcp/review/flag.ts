/** Kinds of warnings for a reviewer. @module */

/** The kinds of warnings, with the words for a table. */
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

/** A kind of warning. */
export type FlagKind = keyof typeof FLAG_WORDS;

/** A warning. `where` and `shown` hold untrusted text: show it through `displayText` only. */
export interface ToolFlag {
  readonly what: FlagKind;
  /** The place, such as `description`, `parameter "path"`, `name`. */
  readonly where: string;
  /** The finding, in a sentence. */
  readonly shown: string;
}
