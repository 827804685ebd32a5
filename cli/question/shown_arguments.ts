/** Splits a call's arguments for reading: long texts as lines of their own, the rest as JSON. @module */

/** The split arguments; together they are complete. */
export interface ShownArguments {
  /** JSON of everything except the texts. */
  readonly rest: string;
  /** Texts of several lines, by their argument's name. Both are untrusted. */
  readonly texts: readonly { readonly name: string; readonly text: string }[];
}

/** Splits canonical arguments; arguments that are no object stay whole. */
export function shownArguments(argumentsText: string): ShownArguments {
  const whole: ShownArguments = { rest: argumentsText, texts: [] };
  let args: unknown;
  try {
    args = JSON.parse(argumentsText);
  } catch {
    return whole; // The kernel writes JSON; a forged question is shown as it is.
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) return whole;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(args);
  const texts = entries.flatMap(([name, value]) =>
    typeof value === "string" && value.includes("\n") ? [{ name, text: value }] : []
  );
  if (texts.length === 0) return whole;
  const named = new Set(texts.map(({ name }) => name));
  const rest = Object.fromEntries(entries.filter(([name]) => !named.has(name)));
  return { rest: JSON.stringify(rest), texts };
}
