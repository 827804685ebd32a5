/** Pins what was reviewed. What is flagged is pinned only where a person says so. @module */
import { Millis } from "../../../contracts/mod.ts";
import type { McpKit, TranslatedTool } from "./kit.ts";
import type { LockedServer, LockedTool } from "../lock/lock.ts";
import type { McpReview, StandingRow } from "./review.ts";

/** What a person said. */
export interface Approval {
  /** Names on the wire; absent: every tool. */
  readonly tools: readonly string[] | undefined;
  /** What is flagged, too. */
  readonly flagged: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Who. */
  readonly by: string;
}

/** What came of it. */
export interface Approved {
  readonly server: LockedServer;
  /** Names on the wire of tools that are pinned now. */
  readonly approved: readonly string[];
  /** Tools that were not pinned, and why, in words that hold the server's. */
  readonly left: readonly { readonly tool: string; readonly why: string }[];
  /** It has resources or prompts, and no task is offered them: what it says of them, or of itself, is flagged. */
  readonly withheld: boolean;
}

/** Why a tool is left that only a person can judge. */
export const FLAGGED = "flagged";

function whyLeft(row: StandingRow, approval: Approval): string | undefined {
  if (row.refused !== undefined) return row.refused;
  if (approval.tools !== undefined && !approval.tools.includes(row.tool)) return "not named";
  if (row.plain || row.stands === "pinned" || approval.flagged) return undefined;
  return FLAGGED;
}

/** Pins. Pure: `importedTool` is the review's. */
export function approve(
  review: McpReview,
  approval: Approval,
  importedTool: McpKit["importedTool"],
): Approved {
  const { server, words } = review;
  const before = new Map(server.reviewed.map((each) => [each.words.name, each]));
  const said = new Map(words.tools.map((each) => [each.name, each]));
  const translated = new Map(review.translation.tools.map((each) => [each.tool, each]));
  const approved: string[] = [];
  const left: { tool: string; why: string }[] = [];
  const reviewed: LockedTool[] = [];
  const pin = (row: StandingRow, tool: TranslatedTool): void => {
    const spoken = said.get(row.tool);
    if (spoken === undefined) return;
    const old = before.get(row.tool);
    approved.push(row.tool);
    reviewed.push({
      words: spoken,
      tool: importedTool(tool),
      at: Millis.parse(approval.at),
      by: approval.by,
      off: old?.off ?? false,
    });
  };
  for (const row of review.rows) {
    const tool = translated.get(row.tool);
    const why = whyLeft(row, approval);
    if (why === undefined && tool !== undefined) {
      pin(row, tool);
      continue;
    }
    if (why !== "not named") left.push({ tool: row.tool, why: why ?? "it was refused" });
    // What was pinned stays as it was: changed words stay suspended until they are approved.
    const old = before.get(row.tool);
    if (old !== undefined) reviewed.push(old);
  }
  const whole = approval.tools === undefined;
  const offered = review.flags.length === 0 || approval.flagged;
  const { resources, templates, prompts } = words;
  const others = resources.length + templates.length + prompts.length;
  return {
    approved,
    left,
    withheld: whole && !offered && others > 0,
    server: {
      ...server,
      // A server of which nothing could be pinned waits on.
      state: reviewed.length > 0 || words.tools.length === 0 ? "approved" : server.state,
      reviewed,
      ...(whole
        ? {
          offers: {
            resources: offered && resources.length + templates.length > 0,
            prompts: offered && prompts.length > 0,
          },
        }
        : {}),
      seen: {
        name: words.server.name,
        version: words.server.version,
        protocol: words.protocol,
      },
    },
  };
}
