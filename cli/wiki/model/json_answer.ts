/** The JSON of a model's answer. @module */

/** The JSON of an answer, also where a model puts it in a fence; undefined when there is none. */
export function readJsonAnswer(text: string): unknown {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n```/.exec(text)?.[1];
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  for (const each of [text, fenced ?? "", from < 0 ? "" : text.slice(from, to + 1)]) {
    try {
      return JSON.parse(each);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}
