/** Pieces that a dialect finds in a model's text, and calls in JSON. @module */

/** A call found in a text. */
interface OutCall {
  readonly name: string;
  /** JSON text; for a wrong call, the model's text. */
  readonly arguments: string;
  /** Its closing marker was written. */
  readonly closed?: boolean;
  /** Why it is unreadable. */
  readonly wrong?: string;
}

/** A piece of an answer: text, a thought, or a call. */
export type Out =
  | { readonly text: string }
  | { readonly rationale: string }
  | { readonly call: OutCall };

/** Collects pieces and joins neighbours of one kind. */
interface Outs {
  text(piece: string): void;
  rationale(piece: string): void;
  call(call: OutCall): void;
  /** Removes and returns all pieces. */
  take(): readonly Out[];
}

export function makeOuts(): Outs {
  let outs: Out[] = [];
  let kind: "text" | "rationale" | "call" = "call";
  let parts: string[] = [];

  function flush(): void {
    if (parts.length > 0) {
      const joined = parts.join("");
      outs.push(kind === "text" ? { text: joined } : { rationale: joined });
      parts = [];
    }
  }
  function add(to: "text" | "rationale", piece: string): void {
    if (piece === "") return;
    if (kind !== to) flush();
    kind = to;
    parts.push(piece);
  }
  return Object.freeze<Outs>({
    text: (piece) => add("text", piece),
    rationale: (piece) => add("rationale", piece),
    call(call) {
      flush();
      kind = "call";
      outs.push({ call });
    },
    take() {
      flush();
      const taken = outs;
      outs = [];
      return taken;
    },
  });
}

/** A call as written in a model's text. */
export interface TextCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Members that hold arguments. */
const GIVEN = ["arguments", "parameters", "args"] as const;
/** Members that may stand beside the arguments. */
const BESIDE: ReadonlySet<string> = new Set([
  ...["name", "tool", "tool_name", "id", "type", "index", "tool_call_id", "function", ...GIVEN],
]);

/**
 * Parses calls in JSON: `{"name": …, "arguments" (or "parameters", "args"): {…}}`, an array, or several in
 * sequence. Missing arguments are `{}`. Throws `SyntaxError` with a message for the model.
 */
export function jsonCalls(text: string): readonly TextCall[] {
  const values = topLevel(text).flatMap((each) => {
    const value: unknown = JSON.parse(each);
    return Array.isArray(value) ? value : [value];
  });
  if (values.length === 0) throw new SyntaxError("it is empty");
  return values.map((value) => {
    const fields = fieldsOf(value);
    if (fields === undefined) throw new SyntaxError("it is no JSON object");
    return callOf(fieldsOf(fields["function"]) ?? fields);
  });
}

/**
 * Parses `{"name" or "tool": …, "arguments", "parameters" or "args": {…}}` without other members, of an
 * advertised tool. Other JSON in a fence is an example or an answer.
 */
export function hermesCall(json: string, advertised: ReadonlySet<string>): TextCall | undefined {
  let fields: Fields | undefined;
  try {
    fields = fieldsOf(JSON.parse(json));
  } catch {
    return undefined;
  }
  if (fields === undefined || Object.keys(fields).length !== 2) return undefined;
  const name = fields["name"] ?? fields["tool"];
  if (typeof name !== "string" || !advertised.has(name)) return undefined;
  if (!GIVEN.some((word) => fields?.[word] !== undefined)) return undefined;
  try {
    return callOf(fields);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function callOf(fields: Fields): TextCall {
  const name = fields["name"] ?? fields["tool"] ?? fields["tool_name"];
  if (typeof name !== "string" || name === "") throw new SyntaxError("it has no name");
  const given = GIVEN.map((word) => fields[word]).find((value) => value !== undefined);
  // A call with its arguments under another name must not be made without them.
  const other = given === undefined
    ? Object.keys(fields).find((key) => !BESIDE.has(key))
    : undefined;
  if (other !== undefined) {
    throw new SyntaxError(`its arguments do not stand under "arguments", but beside "${other}"`);
  }
  if (typeof given === "string") return { name, arguments: given };
  if (given === undefined || given === null) return { name, arguments: "{}" };
  if (typeof given !== "object" || Array.isArray(given)) {
    throw new SyntaxError("its arguments are no object");
  }
  try {
    return { name, arguments: JSON.stringify(given) };
  } catch {
    throw new SyntaxError("its arguments are nested too deeply");
  }
}

/** The top-level values of a text, separated by white space, commas or semicolons. */
function topLevel(text: string): readonly string[] {
  const values: string[] = [];
  let depth = 0;
  let from = -1;
  let string = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (string) {
      if (char === "\\") at += 1;
      else if (char === '"') string = false;
      continue;
    }
    if (from < 0) {
      if (/[\s,;]/.test(char)) continue;
      from = at;
      // Neither object nor array: returned for the parser to report.
      if (char !== "{" && char !== "[") return [...values, text.slice(at)];
    }
    if (char === '"') string = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth !== 0) continue;
      values.push(text.slice(from, at + 1));
      from = -1;
    }
  }
  return from < 0 ? values : [...values, text.slice(from)];
}

/** Whether JSON text ends within a string, so that a marker there belongs to the string. */
export function endsInString(text: string): boolean {
  let string = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\\") {
      if (!string) return false;
      at += 1;
    } else if (char === '"') string = !string;
  }
  return string;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Fields
    : undefined;
}
