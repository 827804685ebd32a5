/** One step of the wiki's record as a line of log.md, and the chain over these lines. @module */
import type { Digest, WikiEvent } from "../../contracts/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayText } from "../../text/mod.ts";

/** How log.md begins. */
export const LOG_HEAD =
  "# Log\n\nWritten by Remit, one line for each step; `remit wiki log --verify` checks it.\n\n";
/** What comes before the first line's hash. */
export const FIRST_HASH = sha256Hex("remit.wiki-log.v1");
/** Most of an event's text, characters. */
const MOST = 500;

/** One line of plain words: no control characters, no line ends, nothing that Markdown or HTML would act on. */
export function oneLine(text: string): string {
  const plain = displayText(text.replace(/[\r\n\t\u2028\u2029]+/gu, " ")).replace(
    /[`<>[\]|*]/g,
    "'",
  );
  return plain.length > MOST ? `${plain.slice(0, MOST - 1).toWellFormed()}…` : plain;
}

/** An event as its line, without hash. */
function lineOf({ n, at, kind, by, text }: Omit<WikiEvent, "hash">): string {
  return `- ${n} ${new Date(at).toISOString()} **${kind}** ${by}: ${text}`;
}

/** What the chain says after `previous` and this line. */
export function hashOf(previous: Digest, event: Omit<WikiEvent, "hash">): Digest {
  return sha256Hex(previous, "\n", lineOf(event));
}

/** An event as log.md shows it, with its line feed. */
export function shownLine(event: WikiEvent): string {
  return `${lineOf(event)} \`${event.hash.slice(0, 12)}\`\n`;
}
