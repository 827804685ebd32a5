/** What a model's text holds: words and calls, as {@link toolGrammar} lets them be written. @module */

/** Before a call. */
export const CALL_OPEN = "<tool_call>";
/** Behind it. */
export const CALL_CLOSE = "</tool_call>";

/** A call as the text has it. */
export interface AnsweredCall {
  readonly name: string;
  /** JSON text; not parsed: the gate does. */
  readonly arguments: string;
}

/** An answer taken apart. */
export interface ToolAnswer {
  /** What stands before the first call, or all of it. */
  readonly text: string;
  readonly calls: readonly AnsweredCall[];
  /** A call has begun and is not complete: the answer was cut. Its text is in neither. */
  readonly cut: boolean;
  /** As much of that call as was written. */
  readonly begun?: AnsweredCall;
}

/** Takes an answer apart. Whatever is no call as the grammar writes them stays text. */
export function parseToolAnswer(answer: string): ToolAnswer {
  const start = answer.indexOf(CALL_OPEN);
  if (start < 0) return { text: answer, calls: [], cut: false };
  const calls: AnsweredCall[] = [];
  let at = start;
  let cut = false;
  while (answer.startsWith(CALL_OPEN, at)) {
    const open = skip(answer, at + CALL_OPEN.length);
    const end = valueEnd(answer, open);
    const closed = end === undefined ? undefined : skip(answer, end);
    const call = end === undefined ? undefined : callOf(answer.slice(open, end));
    if (closed === undefined || !answer.startsWith(CALL_CLOSE, closed)) {
      cut = end === undefined || CALL_CLOSE.startsWith(answer.slice(closed));
      break;
    }
    if (call === undefined) break;
    calls.push(call);
    at = skip(answer, closed + CALL_CLOSE.length);
  }
  // Text that only looks like a call is shown as it is.
  const text = calls.length === 0 && !cut ? answer : answer.slice(0, start);
  return { text, calls, cut, ...(cut ? { begun: begunAt(answer, at) } : {}) };
}

/** A call that was cut, from its marker on: of its name and its arguments what is there. */
function begunAt(answer: string, at: number): AnsweredCall {
  const text = answer.slice(at + CALL_OPEN.length);
  const [, name = ""] = /^\s*\{\s*"name"\s*:\s*"([^"\\]*)/.exec(text) ?? [];
  const [, written = ""] = /"arguments"\s*:\s*([^]*)$/.exec(text) ?? [];
  return { name, arguments: written };
}

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at++;
  return at;
}

/** Where the object that begins at `from` ends; undefined when it does not begin or end. */
function valueEnd(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const each = text.charAt(at);
    if (quoted) {
      if (each === "\\") at++;
      else if (each === '"') quoted = false;
    } else if (each === '"') quoted = true;
    else if (each === "{" || each === "[") depth++;
    else if (each === "}" || each === "]") depth--;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

/** The two members of a call; the arguments as they are written, so that nothing is lost on the way. */
function callOf(text: string): AnsweredCall | undefined {
  const head = /^\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*/.exec(text);
  if (head === null) return undefined;
  try {
    const name: unknown = JSON.parse(head[1] ?? "");
    const written = text.slice(head[0].length, -1).trimEnd();
    return typeof name === "string" ? { name, arguments: written } : undefined;
  } catch {
    // A name with an escape that JSON does not have.
    return undefined;
  }
}
