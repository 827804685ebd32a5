/** What a page is about, in one sentence of its own. @module */
import { blocksOf } from "./blocks.ts";
import { claimsOf } from "./claims.ts";
import { plainLine } from "./inline.ts";

/** Characters of an {@link aboutOf}. */
const ABOUT_CHARACTERS = 160;
/** Lines of a body that are looked at. */
const LOOKED_AT = 200;

/** The first statement of a page's body, else its first heading, on one line of at most 160 characters; or "". */
export function aboutOf(body: string): string {
  const blocks = blocksOf(body.slice(0, 65_536).split("\n", LOOKED_AT));
  const heading = blocks.find(({ kind }) => kind === "heading");
  const text = claimsOf(blocks)[0]?.text ?? plainLine(heading?.text ?? "");
  return shortened(text, ABOUT_CHARACTERS);
}

/** `text` cut between words to at most `most` characters, the sign of the cut included. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1).toWellFormed().replace(/\ufffd$/, "");
  const space = cut.lastIndexOf(" ");
  return `${(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
