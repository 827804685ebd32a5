/** What the tool `help` says. @module */
import type { JsonObject } from "../../contracts/mod.ts";
import { MAIL_DESCRIPTORS } from "./descriptors.ts";

const ALL = [
  "You have names, mail and proposals.",
  "Names: your own directory of petnames, for values and capabilities; nobody else's names are yours. " +
  "SELF is you, HOST the person, AGENT what you hold. See has, list, lookup, remove, move, copy, " +
  "make_directory, identify, inspect_capability.",
  "Mail: list_messages, then send an answer, then dismiss. What a message carries gets a petname by " +
  "adopt. request asks for something, resolve and reject answer.",
  "Proposals: evaluate proposes a program to HOST. It runs only if HOST grants it.",
  'Extended JSON: "+5" and "-5" are bigints, "#undefined", "#NaN", "#Infinity" and "#-Infinity" what ' +
  'they say; "!" stands before a text that begins so.',
  'help with methodName says more of one tool, as {"methodName":"send"}.',
].join("\n");

/** The help of one tool, or of all of it. */
export function helpOn(tool: JsonObject[string] | undefined): string {
  const found = Object.values(MAIL_DESCRIPTORS).find(({ name }) => name === tool);
  return found === undefined ? ALL : `${found.name}: ${found.description}\n${found.paramSchema}`;
}
