/** The rows of the one table that a reviewer is shown. @module */
import type { EffectClass, ToolName } from "../../../contracts/mod.ts";
import type { ToolFlag } from "./flag.ts";
import type { Translation } from "./translate.ts";

/** One tool. `tool`, `flags`, `notes` and `refused` are untrusted or hold untrusted fragments. */
export interface ReviewRow {
  /** Its name on the wire. */
  readonly tool: string;
  /** As models call it; absent: it was refused. */
  readonly name?: ToolName;
  readonly effect?: EffectClass;
  readonly holds?: "read" | "all";
  readonly flags: readonly ToolFlag[];
  readonly notes: readonly string[];
  /** Why it cannot be imported. */
  readonly refused?: string;
  /** Switched off. */
  readonly off: boolean;
  /** Neither flagged nor refused: what "approve everything unflagged" takes. */
  readonly plain: boolean;
}

/** A row for each tool, in the order of their names on the wire. */
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
