/** `replace`: one text for another, in files; the changes are staged. @module */
import { makeExpression, occurrences } from "./expression.ts";
import { FileError, fileError, UsageError } from "./faults.ts";
import { readOptions } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import { forEach, type Program } from "./program.ts";

/** Replaces every occurrence within lines; the new text is taken as it stands. */
export const replace: Program = {
  usage: "[-Einw] OLD NEW FILE…   (-E: OLD is an extended pattern; -n: only count)",
  async run({ words, input, output, remit }) {
    const given = readOptions(words, { E: false, i: false, n: false, w: false });
    const [old, next, ...names] = given.operands;
    if (old === undefined || next === undefined || names.length === 0) {
      throw new UsageError("give OLD, NEW and files");
    }
    if (old === "" || old.includes("\n")) throw new UsageError("OLD is part of one line");
    const expression = makeExpression([old], {
      kind: given.has("E") ? "extended" : "fixed",
      ignoreCase: given.has("i"),
      as: given.has("w") ? "word" : "part",
    });
    return await forEach({ name: "replace", output }, names, async (name) => {
      if (name === "-") throw new FileError("-: stdin is no file");
      const path = input.place(name);
      // What is no text would be damaged by being written back.
      const text = await input.whole(name);
      if (text.includes("\0") || text.includes("\ufffd")) throw new FileError(`${name}: not text`);
      const { made, changed } = replaced(text, expression, next);
      if (changed > 0 && !given.has("n")) {
        try {
          await remit.fs.write({ path, text: made });
        } catch (error) {
          throw fileError(name, error);
        }
      }
      output.line(`${name}: ${changed}`);
    });
  },
};

function replaced(
  text: string,
  expression: Pattern,
  next: string,
): { readonly made: string; readonly changed: number } {
  let changed = 0;
  const lines = text.split("\n").map((line) => {
    if (!expression.test(line)) return line;
    let made = "", from = 0;
    for (const span of occurrences(expression, line)) {
      if (span.to === span.from) continue;
      made += line.slice(from, span.from) + next;
      from = span.to;
      changed++;
    }
    return made + line.slice(from);
  });
  return { made: lines.join("\n"), changed };
}
