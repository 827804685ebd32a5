/** The names that lines of code declare: those of known languages, and none of their comments. @module */
import { type CodeForms, codeFormsOf } from "./_code_forms.ts";

const LOOKED_AT = 240;
const MOST_NAME = 80;
const NO_NAME: ReadonlySet<string> = new Set(
  "if for while switch catch return function else do with elif unless until when match new throw await foreach using lock synchronized sizeof typeof assert case print super this"
    .split(" "),
);

/** What a line says of the names around it. */
export interface CodeLine {
  readonly name: string | undefined;
  /** It is, or lies in, a comment or a text of several lines. */
  readonly comment: boolean;
}

const NAMELESS: CodeLine = { name: undefined, comment: false };

/** Follows the lines of one file, from its first. Its name says the language; one that is not known gives no names. */
export function makeCodeNames(file: string): (line: string) => CodeLine {
  const forms = codeFormsOf(file);
  if (forms === undefined) return () => NAMELESS;
  let end: RegExp | undefined;
  return (line) => {
    const text = line.trim();
    if (end !== undefined) {
      if (end.test(text)) end = undefined;
      return { name: undefined, comment: true };
    }
    for (const { from, to } of forms.blocks) {
      const begun = from.exec(text);
      if (begun === null) continue;
      if (!to.test(text.slice(begun[0].length))) end = to;
      return { name: undefined, comment: true };
    }
    const name = nameIn(forms, text.slice(0, LOOKED_AT), line.startsWith(text));
    return { name, comment: name === undefined && forms.comment.test(text) };
  };
}

function nameIn(
  { anywhere, margin = [] }: CodeForms,
  text: string,
  atMargin: boolean,
): string | undefined {
  for (const form of atMargin ? [...anywhere, ...margin] : anywhere) {
    const name = form.exec(text)?.[1];
    if (name === undefined || NO_NAME.has(name) || name.length > MOST_NAME) continue;
    // `return f(` and `new T(` begin like a type and a name.
    if (NO_NAME.has(/^[\p{L}_$]+/u.exec(text)?.[0] ?? "") && !/^(?:case|function)\b/.test(text)) {
      continue;
    }
    return name;
  }
  return undefined;
}
