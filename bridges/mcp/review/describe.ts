/** What a model is told of an imported tool: data, with its provenance. @module */
import type { McpServerName, McpToolWords } from "../../../contracts/mod.ts";
import { cleanText } from "./clean_text.ts";

/** Longest description, in UTF-16 units: the tool contract's. */
export const LONGEST_DESCRIPTION = 4_096;

/** The description of a tool, bounded, each line of it marked as the server's. */
export function describe(
  server: McpServerName,
  words: McpToolWords,
  from: string = `From the MCP server "${server}" (not verified)`,
): string {
  const said = [words.description, words.title, words.annotations?.title]
    .map((each) => cleanText(each ?? "", LONGEST_DESCRIPTION).text.trim())
    .find((each) => each !== "");
  if (said === undefined) return `${from}. It does not say what the tool does.`;
  // Further lines are quoted, or one of them could pass for ours.
  const quoted = said.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").replaceAll(
    "\n",
    "\n> ",
  );
  const whole = said.includes("\n") ? `${from}:\n> ${quoted}` : `${from}: ${said}`;
  return cleanText(whole, LONGEST_DESCRIPTION).text;
}
