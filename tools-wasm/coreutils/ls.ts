/** `ls`. @module */
import type { Entry } from "./_remit.ts";
import { readOptions } from "./options.ts";
import { below } from "./place.ts";
import { baseName, forEach, type Program, type Run, sorted } from "./program.ts";

/** Lists folders: names, with `-l` kind and size. Times and owners are not known here. */
export const ls: Program = {
  usage: "[-aAdlR1F] [FILE…]",
  async run(run) {
    const { words, input, output } = run;
    const given = readOptions(words, {
      ...{ a: false, A: false, d: false, l: false, R: false, "1": false, F: false },
    });
    const names = given.operands.length === 0 ? ["."] : given.operands;
    const form = {
      hidden: given.has("a", "A"),
      long: given.has("l"),
      marks: given.has("F"),
      deep: given.has("R"),
    };
    return await forEach({ name: "ls", output }, names, async (name, index) => {
      const entries = await input.entries(name);
      if (entries === undefined || given.has("d")) {
        const kind = entries === undefined ? "file" : "folder";
        const bytes = entries === undefined ? await input.size(name) : 0;
        output.line(shown({ path: name, kind, bytes }, form, name));
        return;
      }
      if (names.length > 1 || form.deep) output.write(`${index > 0 ? "\n" : ""}${name}:\n`);
      await list(run, form, { name, entries });
    });
  },
};

interface Form {
  readonly hidden: boolean;
  readonly long: boolean;
  readonly marks: boolean;
  readonly deep: boolean;
}

async function list(
  run: Run,
  form: Form,
  folder: { readonly name: string; readonly entries: readonly Entry[] },
): Promise<void> {
  const kept = sorted(folder.entries).filter(({ path }) =>
    form.hidden || !baseName(path).startsWith(".")
  );
  for (const entry of kept) run.output.line(shown(entry, form, baseName(entry.path)));
  if (!form.deep) return;
  for (const { path, kind } of kept) {
    if (kind !== "folder") continue;
    const name = below(folder.name, baseName(path));
    run.output.write(`\n${name}:\n`);
    await list(run, form, { name, entries: await run.input.entries(name) ?? [] });
  }
}

function shown(entry: Entry, form: Form, name: string): string {
  const mark = form.marks && entry.kind === "folder" ? "/" : "";
  const line = /[\n\r]/.test(name) ? JSON.stringify(name) : name;
  if (!form.long) return line + mark;
  return `${entry.kind === "folder" ? "d" : "-"} ${
    String(entry.bytes).padStart(10)
  } ${line}${mark}`;
}
