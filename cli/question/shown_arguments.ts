/** A call's arguments as a person reads them: long texts as lines of their own, all else as JSON. @module */

/** The arguments, taken apart. Nothing is left out: the texts and the rest are all there is. */
export interface ShownArguments {
  /** JSON of everything that is not among the texts. */
  readonly rest: string;
  /** Texts of several lines, by their argument's name. Both are untrusted. */
  readonly texts: readonly { readonly name: string; readonly text: string }[];
}

/** Takes canonical arguments apart; as they are where they are no object. */
export function shownArguments(argumentsText: string): ShownArguments {
  const whole: ShownArguments = { rest: argumentsText, texts: [] };
  let args: unknown;
  try {
    args = JSON.parse(argumentsText);
  } catch {
    return whole; // The kernel wrote it, and a forged question is shown as it is.
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
