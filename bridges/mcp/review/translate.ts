/**
 * Translates a server's tools to imported tools, and reviews them in rows. Used by
 * registry/review.ts and cli/mcp/.
 * @module
 */
import { isPeer } from "../../../contracts/exchange/exchange.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { EffectClass, ToolName } from "../../../contracts/authority/mod.ts";
import type { ImportedTool, McpServerName, McpToolWords } from "../../../contracts/exchange/mod.ts";
import { describe } from "./clean_text.ts";
import { type EffectAt, effectOf } from "./effect.ts";
import type { ToolFlag } from "./flag.ts";
import { type FlagAt, makeFlagsOf } from "./flags.ts";
import { safeResultSchema, type SafeSchema, safeSchema } from "./safe_schema.ts";
import { outline, toolDigest, toolName } from "./tool_identity.ts";

interface ReviewWith extends EffectAt, Pick<FlagAt, "own" | "others"> {}

/** A tool as it would be pinned, with its warnings for the reviewer. */
export interface TranslatedTool extends ImportedTool {
  readonly flags: readonly ToolFlag[];
  /** What was left out of its schemas, a sentence each, with untrusted fragments. */
  readonly notes: readonly string[];
}

interface RefusedTool {
  /** The server's name for it: untrusted. */
  readonly tool: string;
  /** The reason, a clause with untrusted fragments. */
  readonly why: string;
}

/** A server's tools: those that were translated, and those that were refused. */
export interface Translation {
  readonly tools: readonly TranslatedTool[];
  readonly refused: readonly RefusedTool[];
}

/** Endings of the names of Remit's own tools over a server or peer, after `mcp_SERVER_` or `a2a_PEER_`. */
export const OWN_TOOLS: Readonly<Record<"mcp" | "a2a", readonly string[]>> = {
  mcp: ["resource", "prompt"],
  a2a: ["describe", "task", "artifact"],
};

/** Translates all tools of a server, deterministically. Tools with look-alike names are all refused. */
export function translate(
  server: McpServerName,
  words: readonly McpToolWords[],
  options: ReviewWith,
): Translation {
  const kind = isPeer(options.launch) ? "a2a" : "mcp";
  const names = new Map<McpToolWords, ToolName>(
    words.map((each) => [each, toolName(server, each.name, kind)]),
  );
  const byOutline = Map.groupBy(words, (each) => outline(names.get(each) ?? each.name));
  const flagged = makeFlagsOf({ ...options, server, tools: words });
  const tools: TranslatedTool[] = [];
  const refused: RefusedTool[] = [];
  for (const each of words) {
    const name = names.get(each);
    const twins = byOutline.get(outline(name ?? each.name)) ?? [];
    try {
      if (name === undefined) continue;
      if (OWN_TOOLS[kind].includes(name.slice(`${kind}_${server}_`.length))) {
        throw new Fault("refused", `"${name}" is the name of a tool of Remit's`);
      }
      if (twins.length > 1) {
        const others = twins.filter((twin) => twin !== each).map((twin) => `"${twin.name}"`);
        throw new Fault("refused", `its name cannot be told from ${others.slice(0, 3).join(", ")}`);
      }
      tools.push(translated(server, each, { ...options, name, flagged }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      refused.push({ tool: each.name, why: error.message });
    }
  }
  return { tools, refused };
}

/** The tool as tasks get it, without what only a reviewer needs. */
export function importedTool(translated: TranslatedTool): ImportedTool {
  const { flags: _flags, notes: _notes, ...tool } = translated;
  return tool;
}

function translated(
  server: McpServerName,
  words: McpToolWords,
  at: EffectAt & {
    readonly name: ToolName;
    readonly flagged: (words: McpToolWords) => readonly ToolFlag[];
  },
): TranslatedTool {
  const params = safeSchema(words.inputSchema);
  const result = resultOf(words);
  return {
    name: at.name,
    tool: words.name,
    description: isPeer(at.launch)
      ? describe(server, words, `From the A2A peer "${server}" (not verified)`)
      : describe(server, words),
    paramSchema: params.schema,
    ...(result.schema === undefined ? {} : { resultSchema: result.schema }),
    ...effectOf(words, at),
    digest: toolDigest(words),
    flags: at.flagged(words),
    notes: [...params.notes, ...result.notes],
  };
}

/** Without a usable schema a result is not checked: it is untrusted in any case. */
function resultOf({ outputSchema }: McpToolWords): Partial<SafeSchema> & Pick<SafeSchema, "notes"> {
  if (outputSchema === undefined) return { notes: [] };
  try {
    const { schema, notes } = safeResultSchema(outputSchema);
    return { schema, notes: notes.map((each) => `result: ${each}`) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { notes: [`result: not checked, ${error.message}`] };
  }
}

/** A tool in a review. `tool`, `flags`, `notes` and `refused` hold untrusted text. */
export interface ReviewRow {
  /** The server's name for it. */
  readonly tool: string;
  /** The name for models; absent when it was refused. */
  readonly name?: ToolName;
  readonly effect?: EffectClass;
  readonly holds?: "read" | "all";
  readonly flags: readonly ToolFlag[];
  readonly notes: readonly string[];
  /** Why it cannot be imported. */
  readonly refused?: string;
  /** Switched off. */
  readonly off: boolean;
  /** Neither flagged nor refused: an approval of everything unflagged pins it. */
  readonly plain: boolean;
}

/** A row for each tool, sorted by the server's names. */
export function reviewRows(
  { tools, refused }: Translation,
  off: readonly string[],
): readonly ReviewRow[] {
  const rows: ReviewRow[] = [
    ...tools.map(({ tool, name, effect, holds, flags, notes }) => ({
      ...{ tool, name, effect, holds, flags, notes },
      off: off.includes(tool),
      plain: flags.length === 0,
    })),
    ...refused.map(({ tool, why }) => ({
      ...{ tool, flags: [], notes: [], refused: why, off: off.includes(tool), plain: false },
    })),
  ];
  return rows.sort((a, b) => a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : 0);
}
