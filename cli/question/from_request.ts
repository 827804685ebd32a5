/** Which values of a call stand in the person's own request, and which came from elsewhere. @module */
import type { Question } from "../../contracts/authority/mod.ts";
import type { Json } from "../../contracts/base/mod.ts";

/** Values of a call by where they stand, each as `name: value`. Untrusted. */
export interface ValueOrigins {
  readonly asked: readonly string[];
  readonly elsewhere: readonly string[];
}

const LONGEST = 80;

/**
 * The values of a call that leaves the task: what is sent, paid, deleted or told to a server or peer. Undefined for any
 * other, and where the arguments are no object.
 */
export function valueOrigins(
  { scope: { tool, effect, destination }, argumentsText }: Question,
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
  const look = (value: Json, name: string): void => {
    if (value !== null && typeof value === "object") {
      for (const [key, each] of Object.entries(value)) {
        look(each, name === "" ? key : `${name}.${key}`);
      }
      return;
    }
    const text = String(value);
    const shown = text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
    (standsIn(request, value) ? asked : elsewhere).push(`${name}: ${shown}`);
  };
  look(args, "");
  return { asked, elsewhere };
}

/** A value in a text must not be a part of a longer one: `evil.example` does not stand in `not-evil.example`. */
const BEFORE = /(?:^|[\s"'`(<[{,;:=$€£¥])$/u;
const AFTER = /^(?:$|[\s"'`)>\]},;:!?€£¥%]|\.(?:\s|$))/u;
const NUMBER = /-?\d+(?:,\d{3})*(?:\.\d+)?/gu;

/** Tells whether a value of a call stands in a person's own words, whole and not within a longer one. */
export function standsIn(request: string, value: string | number | boolean | null): boolean {
  const text = request.normalize();
  const whole = (from: number, to: number): boolean =>
    BEFORE.test(text.slice(Math.max(0, from - 2), from)) && AFTER.test(text.slice(to, to + 2));
  if (typeof value === "number") {
    return [...text.matchAll(NUMBER)].some(({ 0: found, index }) =>
      Number(found.replaceAll(",", "")) === value && whole(index, index + found.length)
    );
  }
  if (typeof value !== "string") return false;
  const wanted = value.normalize();
  if (wanted.trim() === "") return false;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    if (whole(at, at + wanted.length)) return true;
  }
  return false;
}
