/** Finds code in a model's text by Markdown's rules: calls within code are examples. Used by dialect.ts. @module */

/** Code whose end was not reached yet. */
export interface Code {
  /** The run of backticks or tildes that closes it. */
  readonly close: string;
  /** Whether it is a fence, closed by a line of its own; inline code ends with its line. */
  readonly fence: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w-]*)[^\n`]*\n$/;
/** Info strings of fences that may hold a call. */
const FENCES: ReadonlySet<string> = new Set(["json", "tool_call", "tool_code"]);

/**
 * A fence or inline code that begins at `at`; `part`: undecided at the end of the text. `kind`: the info
 * string of a fence that may hold a call, if `fences`. `starts`: `at` is the beginning of a line.
 */
export function codeAt(
  text: string,
  at: number,
  { starts, last, fences }: {
    readonly starts: boolean;
    readonly last: boolean;
    readonly fences: boolean;
  },
): "part" | undefined | Code & { readonly length: number; readonly kind?: string } {
  if (starts && /^ {0,3}(?:[`~]|$)/.test(text.slice(at, at + 4))) {
    const newline = text.indexOf("\n", at);
    const line = text.slice(at, newline < 0 ? text.length : newline + 1);
    if (newline < 0 && !last && /^ {0,3}(?:[`~]{0,2}|(`{3,}|~{3,})[^`\n]{0,80})$/.test(line)) {
      return "part";
    }
    const found = FENCE.exec(line);
    if (found !== null) {
      const [whole, close = "", kind = ""] = found;
      const holds = fences && close === "```" && FENCES.has(kind);
      return { length: whole.length, close, fence: true, ...(holds ? { kind } : {}) };
    }
  }
  if (text.charAt(at) !== "`") return undefined;
  const run = /^`+/.exec(text.slice(at))?.[0] ?? "`";
  if (at + run.length === text.length && !last) return "part";
  return { length: run.length, close: run, fence: false };
}

/**
 * How much of `text` belongs to the code; `over`: the code ends there. Otherwise the rest may begin the
 * closing run. `lineStart`: the text begins a line.
 */
export function codeEnd(
  code: Code,
  text: string,
  { lineStart, last }: { readonly lineStart: boolean; readonly last: boolean },
): { readonly to: number; readonly over: boolean } {
  return code.fence ? fenceEnd(code, text, { lineStart, last }) : inlineEnd(code, text, last);
}

function fenceEnd(
  { close }: Code,
  text: string,
  { lineStart, last }: { readonly lineStart: boolean; readonly last: boolean },
): { readonly to: number; readonly over: boolean } {
  const end = new RegExp(`^ {0,3}${close}[${close.charAt(0)}]*[ \\t\\r]*(?:\\n|$)`);
  for (let at = 0, starts = lineStart; at < text.length; starts = true) {
    const newline = text.indexOf("\n", at);
    const line = newline < 0 ? text.slice(at) : text.slice(at, newline + 1);
    const part = newline < 0 && !last && /^ {0,3}[`~]*[ \t\r]*$/.test(line);
    if (starts && part) return { to: at, over: false };
    if (starts && end.test(line)) return { to: at + line.length, over: true };
    if (newline < 0) break;
    at = newline + 1;
  }
  return { to: text.length, over: false };
}

/** Inline code ends with its line, so that a stray backtick hides no call on the next one. */
function inlineEnd(
  { close }: Code,
  text: string,
  last: boolean,
): { readonly to: number; readonly over: boolean } {
  const newline = text.indexOf("\n");
  const at = runAt(text, 0, close);
  if (at >= 0 && (newline < 0 || at < newline)) {
    // A run at the end of the text may go on.
    const open = at + close.length === text.length && !last;
    return open ? { to: at, over: false } : { to: at + close.length, over: true };
  }
  if (newline >= 0) return { to: newline + 1, over: true };
  const ticks = last ? 0 : /`*$/.exec(text)?.[0].length ?? 0;
  return { to: text.length - ticks, over: false };
}

/** Position of a run of exactly these backticks; -1 for none. */
function runAt(text: string, from: number, run: string): number {
  for (let at = text.indexOf("`", from); at >= 0; at = text.indexOf("`", at)) {
    let end = at;
    while (text.charAt(end) === "`") end += 1;
    if (end - at === run.length) return at;
    at = end;
  }
  return -1;
}
