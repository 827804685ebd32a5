/** A server's text without what nobody sees. @module */
import type { McpServerName, McpToolWords } from "../../../contracts/exchange/mod.ts";

// Made when a text first asks for it: the list of emoji is long, and most texts are plain.
let emoji: RegExp | undefined;

/** An emoji as the Unicode Consortium recommends it, or one code point. */
const clusters = (): RegExp => emoji ??= /\p{RGI_Emoji}|[\s\S]/gv;
/** Controls, format characters, halves of pairs, private use, unassigned, and what has no ink. */
const UNSEEN = /[[\p{C}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{1d159}]--[\n\t]]/v;
/** The usual text: nothing to look at. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;
const MARK = /^\p{M}$/u;
const MAX_MARKS = 4;
const CUT = " […]";

interface CleanText {
  readonly text: string;
  /** Characters that were left out because they cannot be seen. */
  readonly hidden: number;
  /** The text was longer. */
  readonly cut: boolean;
}

/** The text as it looks: at most `most` UTF-16 units, lines ended by `\n`, nothing unseen in it. */
export function cleanText(text: string, most: number): CleanText {
  if (text.length <= most && PLAIN.test(text)) return { text, hidden: 0, cut: false };
  let kept = "", hidden = 0, marks = 0, cut = false;
  const lines = text.replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, "\n");
  for (const [cluster] of lines.matchAll(clusters())) {
    marks = MARK.test(cluster) ? marks + 1 : 0;
    if (isUnseen(cluster) || marks > MAX_MARKS) {
      // Joiners belong to several scripts, and the marks of an emoji to it.
      if (!isJoiner(cluster, kept)) {
        hidden += 1;
        continue;
      }
    }
    if (kept.length + cluster.length > most) {
      cut = true;
      break;
    }
    kept += /^\p{Z}$/u.test(cluster) ? " " : cluster;
  }
  if (!cut) return { text: kept, hidden, cut };
  const room = Math.max(0, most - CUT.length);
  return { text: kept.slice(0, room).toWellFormed().replace(/\ufffd$/, "") + CUT, hidden, cut };
}

function isUnseen(cluster: string): boolean {
  return UNSEEN.test(cluster) && !/^\p{RGI_Emoji}$/v.test(cluster);
}

/** A joiner after a letter of a script that writes with them. */
function isJoiner(cluster: string, before: string): boolean {
  return (cluster === "\u200c" || cluster === "\u200d") && /[\p{L}\p{M}]$/u.test(before) &&
    !/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}]$/u.test(before);
}

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
