/** Says where an argument differs from what it has to be, so that the next call gets it right. @module */
import { Fault } from "../contracts/fault.ts";

/** Longest text that is repeated whole. */
const WHOLE = 2_500;
const AROUND = 60;

/** The refusal of an argument that is not exactly what the page makes it. */
export function differs(
  name: "url" | "body",
  { given, exact }: { readonly given: string; readonly exact: string },
): Fault {
  const what = name === "url" ? "it leads elsewhere" : "the form sends something else";
  if (exact.length <= WHOLE) {
    return new Fault(
      "invalidArguments",
      `Cannot do this: ${what}; call again with ${name} ${JSON.stringify(exact)}`,
    );
  }
  let at = 0;
  while (at < exact.length && exact[at] === given[at]) at += 1;
  const part = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, at - AROUND), at + AROUND));
  return new Fault(
    "invalidArguments",
    `Cannot do this: ${what}; ${name} has ${exact.length} characters and differs from character ` +
      `${at} on: it is ${part(exact)} there, and not ${part(given)}`,
  );
}
