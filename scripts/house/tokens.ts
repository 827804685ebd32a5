/** The kind of a token. `doc` is a `/** … *\/` comment. */
export type TokenKind =
  | "word"
  | "number"
  | "string"
  | "template"
  | "regex"
  | "punct"
  | "comment"
  | "doc";

/**
 * A token with the 1-based line where it starts. `text` of a string is its content without quotes.
 */
export type Token = {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
};

const WORD = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /\d[\w.]*/y;
const SPACE = /\s+/y;
const LINE_COMMENT = /\/\/[^\n]*|^#![^\n]*/y;
const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//y;
const STRING = /"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/y;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*/y;
const PUNCT = /=>|\?\.(?!\d)|\?\?|\.\.\.|[^\s]/uy;

/** Words after which a `/` starts a regular expression. */
const BEFORE_REGEX: ReadonlySet<string> = new Set(
  "return typeof case in of do else void delete throw new await yield instanceof".split(" "),
);

/**
 * Splits TypeScript source into tokens. Exact about comments, strings, templates and regular
 * expressions, and ignorant of grammar: enough for the house rules, without a dependency that could
 * change under them. Text that is not TypeScript gives odd tokens and no error; `deno check` judges
 * that.
 */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const templates: number[] = []; // brace depth at which each open `${` ends
  let at = 0;
  let line = 1;
  let depth = 0;

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const push = (kind: TokenKind, raw: string, text = raw): void => {
    tokens.push({ kind, text, line });
    skip(raw);
  };
  const skip = (raw: string): void => {
    for (const char of raw) if (char === "\n") line += 1;
    at += raw.length;
  };
  const templatePart = (): void => {
    const raw = take(TEMPLATE_PART) ?? "";
    push("template", raw);
    if (source.startsWith("${", at)) {
      at += 2;
      templates.push(depth);
      depth += 1;
    } else at += 1; // the closing backtick
  };
  const regexMayStart = (): boolean => {
    const last = tokens.findLast((token) => token.kind !== "comment" && token.kind !== "doc");
    if (last === undefined) return true;
    if (last.kind === "word") return BEFORE_REGEX.has(last.text);
    return last.kind === "punct" && !")]}".includes(last.text);
  };

  while (at < source.length) {
    const space = take(SPACE);
    if (space !== undefined) {
      skip(space);
      continue;
    }
    const comment = take(LINE_COMMENT) ?? take(BLOCK_COMMENT);
    if (comment !== undefined) {
      push(comment.startsWith("/**") ? "doc" : "comment", comment);
      continue;
    }
    const string = take(STRING);
    if (string !== undefined) {
      push("string", string, string.slice(1, -1));
      continue;
    }
    if (source[at] === "`") {
      at += 1;
      templatePart();
      continue;
    }
    const regex = source[at] === "/" && regexMayStart() ? take(REGEX) : undefined;
    if (regex !== undefined) {
      push("regex", regex);
      continue;
    }
    const word = take(WORD);
    if (word !== undefined) {
      push("word", word);
      continue;
    }
    const number = take(NUMBER);
    if (number !== undefined) {
      push("number", number);
      continue;
    }
    const punct = take(PUNCT) ?? source.charAt(at);
    if (punct === "}" && templates.at(-1) === depth - 1) {
      templates.pop();
      depth -= 1;
      at += 1;
      templatePart();
      continue;
    }
    if (punct === "{") depth += 1;
    if (punct === "}") depth -= 1;
    push("punct", punct);
  }
  return tokens;
}
