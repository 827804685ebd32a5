import { breach, type Finding, isTest, type SourceFile } from "./source.ts";

/** `(test: NAME)` in a comment: who holds what it says. `…` stands for words left out. */
const NAMED = /\(tests?: "?([^)"]+)"?\)/gi;

/** Rule `claim`, over the whole tree: a test that a comment names is there, under the words that it is named by. */
export function claimFindings(files: readonly SourceFile[]): readonly Finding[] {
  const tests = files.filter(({ path }) => isTest(path)).map((file) =>
    file.code.filter(({ kind }) => kind === "string" || kind === "template")
      .map(({ text }) => text).join("\n")
  );
  return files.filter(({ path }) => !isTest(path) && !path.startsWith("scripts/house/"))
    .flatMap((file) =>
      commentsOf(file).flatMap(({ line, text }) =>
        [...text.matchAll(NAMED)].flatMap(([, name = ""]) => {
          const parts = name.split("…").map((part) => part.trim());
          const there = tests.some((test) => parts.every((part) => test.includes(part)));
          return there ? [] : [breach("claim", file.path, line, `no test is called "${name}"`)];
        })
      )
    );
}

/** Comments with what follows them without code in between, as one text each. */
function commentsOf({ tokens }: SourceFile): readonly { line: number; text: string }[] {
  const found: { line: number; text: string }[] = [];
  for (const [index, { kind, text, line }] of tokens.entries()) {
    if (kind !== "comment" && kind !== "doc") continue;
    const words = text.replace(/^[ \t]*(?:\/\/|\/\*\*?|\*\/?)[ \t]?/gm, "").replace(/\s+/g, " ");
    const last = found.at(-1);
    if (last !== undefined && tokens[index - 1]?.kind === kind) last.text += ` ${words.trim()}`;
    else found.push({ line, text: words.trim() });
  }
  return found;
}
