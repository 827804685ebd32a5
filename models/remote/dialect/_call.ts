/** Reads a call from its JSON text. @module */

/** A call as a model wrote it into its text. */
export interface TextCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/**
 * `{"name": …, "arguments" (or "parameters", "args"): {…}}`; without arguments: none. Undefined when it
 * is not that.
 */
export function hermesCall(json: string): TextCall | undefined {
  const fields = objectOf(json);
  if (fields === undefined) return undefined;
  // A call whose arguments stand under another word must not be made without them.
  return callOf(fields["name"], givenOf(fields) ?? {});
}

/**
 * `{"name" or "tool": …, "arguments", "parameters" or "args": {…}}` and nothing beside them, of a tool
 * that is advertised: other JSON is an example or an answer.
 */
export function fencedCall(json: string, advertised: ReadonlySet<string>): TextCall | undefined {
  const fields = objectOf(json);
  if (fields === undefined || Object.keys(fields).length !== 2) return undefined;
  const name = fields["name"] ?? fields["tool"];
  if (typeof name !== "string" || !advertised.has(name)) return undefined;
  return callOf(name, givenOf(fields));
}

function givenOf(fields: Readonly<Record<string, unknown>>): unknown {
  return fields["arguments"] ?? fields["parameters"] ?? fields["args"];
}

function callOf(name: unknown, given: unknown): TextCall | undefined {
  if (typeof name !== "string" || name === "") return undefined;
  if (typeof given === "string") return { name, arguments: given };
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  try {
    return { name, arguments: JSON.stringify(given) };
  } catch {
    // Nested so deeply that it cannot be written again: no tool takes that.
    return undefined;
  }
}

function objectOf(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Readonly<Record<string, unknown>>
      : undefined;
  } catch {
    return undefined;
  }
}
