/** The review of imported servers, as commands are handed it: bridges/mcp/review, wired in by main.ts. @module */
import type {
  Digest,
  EffectClass,
  ImportedTool,
  McpGrants,
  McpLaunch,
  McpServerName,
  McpToolWords,
  McpWords,
  ToolName,
} from "../../../contracts/mod.ts";

/** A warning to a reviewer. `where` and `shown` hold the server's words. */
export interface ToolFlag {
  readonly what: string;
  readonly where: string;
  readonly shown: string;
}

/** A tool as it would be pinned, with what a reviewer must know of it. */
export interface TranslatedTool extends ImportedTool {
  readonly flags: readonly ToolFlag[];
  /** What was left out of its schemas, a sentence each. */
  readonly notes: readonly string[];
}

/** What became of a server's tools. */
export interface Translation {
  readonly tools: readonly TranslatedTool[];
  readonly refused: readonly { readonly tool: string; readonly why: string }[];
}

/** A row of the review. */
export interface ReviewRow {
  readonly tool: string;
  /** Absent: it was refused. */
  readonly name?: ToolName;
  readonly effect?: EffectClass;
  readonly holds?: "read" | "all";
  readonly flags: readonly ToolFlag[];
  readonly notes: readonly string[];
  readonly refused?: string;
  readonly off: boolean;
  /** Neither flagged nor refused. */
  readonly plain: boolean;
}

/** A line of a difference; `@` heads a part, in Remit's own words. */
export interface DiffLine {
  readonly mark: " " | "-" | "+" | "@";
  readonly text: string;
}

/** The tools of another server, to be held against. */
export interface OtherServer {
  readonly name: string;
  readonly tools: readonly McpToolWords[];
}

/** The functions. All pure. */
export interface McpKit {
  translate(
    server: McpServerName,
    words: readonly McpToolWords[],
    options: {
      readonly grants: McpGrants;
      readonly launch: McpLaunch;
      readonly direct?: readonly string[] | undefined;
      readonly reads?: readonly string[] | undefined;
      readonly writes?: readonly string[] | undefined;
      /** Names of Remit's own tools. */
      readonly own?: readonly string[];
      readonly others?: readonly OtherServer[];
    },
  ): Translation;
  /** Without what only a reviewer needs. */
  importedTool(translated: TranslatedTool): ImportedTool;
  /** Of a server's instructions, prompts and resources. */
  serverFlags(
    words: McpWords,
    at: {
      readonly server: string;
      readonly tools: readonly McpToolWords[];
      readonly own?: readonly string[];
      readonly others?: readonly OtherServer[];
    },
  ): readonly ToolFlag[];
  reviewRows(translation: Translation, off: readonly string[]): readonly ReviewRow[];
  diffWords(
    before: McpToolWords | undefined,
    after: McpToolWords | undefined,
  ): readonly DiffLine[];
  toolDigest(words: McpToolWords): Digest;
  /** Two or three words for a kind of flag. */
  readonly flagWords: Readonly<Record<string, string>>;
}
