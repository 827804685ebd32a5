/** Cuts a template expression into tokens. @module */

/** A token: a word, a quoted string (unquoted here), or the pipe between steps. */
export interface Token {
  readonly kind: "word" | "string" | "pipe";
  readonly text: string;
}

/**
 * Reads tokens from `start`, just behind `{{`, up to `}}`; `end` is the index behind it.
 * @throws SyntaxError when a string or the expression has no end.
 */
export function tokenize(
  text: string,
  start: number,
): { readonly tokens: readonly Token[]; readonly end: number } {
  const tokens: Token[] = [];
  for (let at = start; at < text.length;) {
    const char = text.charAt(at);
    if (text.startsWith("}}", at)) return { tokens, end: at + 2 };
    if (/\s/.test(char)) {
      at += 1;
    } else if (char === "|") {
      tokens.push({ kind: "pipe", text: "|" });
      at += 1;
    } else if (char === '"') {
      const end = endOfString(text, at);
      tokens.push({ kind: "string", text: unquote(text.slice(at, end)) });
      at = end;
    } else {
      const end = endOfWord(text, at);
      tokens.push({ kind: "word", text: text.slice(at, end) });
      at = end;
    }
  }
  throw new SyntaxError('a template that begins with "{{" has no "}}"');
}

function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at + 1;
  }
  throw new SyntaxError("a quoted string in a template has no end");
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s|"]/.test(text.charAt(at)) && !text.startsWith("}}", at)) at++;
  return at;
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted.replaceAll("\n", "\\n")));
  } catch (cause) {
    throw new SyntaxError(`${quoted} is not a string as JSON writes it`, { cause });
  }
}
