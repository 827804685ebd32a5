/**
 * What the advisor says of a call: shown with its question and kept in the trace. Nothing that decides
 * has an advisor to ask ({@link JudgeParts}).
 * @module
 */
import type { Guarded } from "../../contracts/mod.ts";
import type { GateParts, Judged } from "./parts.ts";

/** Most sentences, and characters of each. */
const MOST = 8, LONGEST = 200;

/** Sentences about the arguments of a call, for its question. */
export function adviceBefore(
  parts: Pick<GateParts, "advisor">,
  { known, read }: Pick<Judged, "known" | "read">,
): readonly string[] {
  return adviceOf(parts, { stage: "beforeTool", tool: known.tool, text: read.argumentsText });
}

/** Sentences about what a call brought back, for its record. */
export function adviceAfter(
  parts: Pick<GateParts, "advisor">,
  { tool, content }: { readonly tool: string; readonly content: string },
): readonly string[] {
  return adviceOf(parts, { stage: "afterTool", tool, text: content });
}

function adviceOf({ advisor }: Pick<GateParts, "advisor">, guarded: Guarded): readonly string[] {
  if (advisor === undefined) return [];
  try {
    return advisor.check(guarded).slice(0, MOST).map((each) => each.slice(0, LONGEST));
  } catch (error) {
    // INVARIANT: an advisor that fails stops no call (test: "… with any advisor and with none").
    return [`the advisor failed: ${error instanceof Error ? error.name : "it threw"}`];
  }
}
