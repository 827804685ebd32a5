/** Separates a call's values: those in the person's own request, and those from elsewhere. @module */
import type { Question } from "../../contracts/authority/mod.ts";
import type { ValueOrigin } from "../../contracts/authority/origin.ts";
import type { Json } from "../../contracts/base/mod.ts";
import { standsIn } from "../../text/stands_in.ts";

/** A call's values, each as `name: value`. Untrusted. */
export interface ValueOrigins {
  readonly asked: readonly string[];
  readonly elsewhere: readonly string[];
}

const MAX_VALUE = 80;
const OWN: ReadonlySet<ValueOrigin["from"]> = new Set(["request", "default"]);

/** The gate's knowledge of a value that is not the person's, in words. */
function whereFrom({ from, tool, colour, says }: ValueOrigin): string {
  const author = colour === "RED" ? ", which a stranger wrote" : "";
  const hint = says === undefined ? "" : `, with ${says}`;
  if (from === "record") return `(the id of what your words name, listed by ${tool}${hint})`;
  if (from === "result") return `(stands in a result of ${tool}${author}${hint})`;
  return "(written by the agent)";
}

/**
 * The values of a call with effects outside the task: of sending, paying, deleting, or telling a server or peer. Undefined
 * for any other call, and where the arguments are no object.
 */
export function valueOrigins(
  { scope: { tool, effect, destination }, argumentsText, origins }: Question,
  request: string,
): ValueOrigins | undefined {
  const leaves = destination !== undefined || /^(?:mcp|a2a)_/.test(tool) ||
    effect === "outboundWrite" || effect === "destructive" || effect === "admin";
  if (!leaves) return undefined;
  let args: Json;
  try {
    args = JSON.parse(argumentsText);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (args === null || typeof args !== "object") return undefined;
  const [asked, elsewhere]: [string[], string[]] = [[], []];
  const known = new Map(origins?.map((each) => [each.at, each]));
  const look = (value: Json, name: string): void => {
    if (value !== null && typeof value === "object") {
      for (const [key, each] of Object.entries(value)) {
        look(each, name === "" ? key : `${name}.${key}`);
      }
      return;
    }
    const text = String(value);
    const shown = text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE).toWellFormed()}…`;
    const origin = known.get(name);
    const line = `${name}: ${shown}`;
    if (origin === undefined ? standsIn(request, value) : OWN.has(origin.from)) asked.push(line);
    else elsewhere.push(origin === undefined ? line : `${line}  ${whereFrom(origin)}`);
  };
  look(args, "");
  return { asked, elsewhere };
}
