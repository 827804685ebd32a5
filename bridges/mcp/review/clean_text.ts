/** Removes invisible characters from a server's text. @module */
import type { McpServerName, McpToolWords } from "../../../contracts/exchange/mod.ts";

// Compiled at first use: the list of emoji is long, and most texts are ASCII.
let emoji: RegExp | undefined;

/** Matches an emoji of Unicode's recommended list, or one code point. */
const clusters = (): RegExp => emoji ??= /\p{RGI_Emoji}|[\s\S]/gv;
/** Controls, format characters, lone surrogates, private use, unassigned, and characters without ink. */
const INVISIBLE = /[[\p{C}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{1d159}]--[\n\t]]/v;
/** Printable ASCII: needs no cleaning. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;
const MARK = /^\p{M}$/u;
const MAX_MARKS = 4;
const CUT = " […]";

interface CleanText {
  readonly text: string;
  /** Invisible characters that were removed. */
  readonly hidden: number;
  /** Whether the text was cut. */
  readonly cut: boolean;
}

/** The text without invisible characters, lines ended by `\n`, at most `max` UTF-16 units. */
export function cleanText(text: string, max: number): CleanText {
  if (text.length <= max && PLAIN.test(text)) return { text, hidden: 0, cut: false };
  let kept = "", hidden = 0, marks = 0, cut = false;
  const lines = text.replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, "\n");
  for (const [cluster] of lines.matchAll(clusters())) {
    marks = MARK.test(cluster) ? marks + 1 : 0;
    // Several scripts need joiners.
    if ((isInvisible(cluster) || marks > MAX_MARKS) && !isJoiner(cluster, kept)) {
      hidden += 1;
      continue;
    }
    if (kept.length + cluster.length > max) {
      cut = true;
      break;
    }
    kept += /^\p{Z}$/u.test(cluster) ? " " : cluster;
  }
  if (!cut) return { text: kept, hidden, cut };
  const room = Math.max(0, max - CUT.length);
  return { text: kept.slice(0, room).toWellFormed().replace(/\ufffd$/, "") + CUT, hidden, cut };
}

function isInvisible(cluster: string): boolean {
  return INVISIBLE.test(cluster) && !/^\p{RGI_Emoji}$/v.test(cluster);
}

/** A zero-width joiner after a letter of a script that uses joiners. */
function isJoiner(cluster: string, before: string): boolean {
  return (cluster === "\u200c" || cluster === "\u200d") && /[\p{L}\p{M}]$/u.test(before) &&
    !/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}]$/u.test(before);
}

/** UTF-16 units of a description, as the tool contract has it. */
export const LONGEST_DESCRIPTION = 4_096;

/** A tool's description within bounds; every line is marked as the server's words. */
export function describe(
  server: McpServerName,
  words: McpToolWords,
  from: string = `From the MCP server "${server}" (not verified)`,
): string {
  const own = [words.description, words.title, words.annotations?.title]
    .map((each) => cleanText(each ?? "", LONGEST_DESCRIPTION).text.trim())
    .find((each) => each !== "");
  if (own === undefined) return `${from}. It does not say what the tool does.`;
  // Quote further lines, so that none can pass for Remit's words.
  const quoted = own.replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").replaceAll(
    "\n",
    "\n> ",
  );
  const whole = own.includes("\n") ? `${from}:\n> ${quoted}` : `${from}: ${own}`;
  return cleanText(whole, LONGEST_DESCRIPTION).text;
}
