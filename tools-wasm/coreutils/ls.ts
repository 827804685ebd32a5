/** `ls`. @module */
import type { Entry } from "./_remit.ts";
import { FileError } from "./faults.ts";
import { readOptions } from "./options.ts";
import { below } from "./place.ts";
import { baseName, forEach, type Program, type Run, sorted } from "./program.ts";
import { compareTexts } from "./sort_keys.ts";

/** Lists folders: names, with `-l` kind and size. Times and owners are unknown here. */
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
    const found: { readonly name: string; readonly kind: Entry["kind"]; readonly bytes: number }[] =
      [];
    const looked = await forEach({ name: "ls", output }, names, async (name) => {
      const kind = await input.kind(name);
      found.push({ name, kind, bytes: kind === "file" ? await input.size(name) : 0 });
    });
    found.sort((a, b) => compareTexts(a.name, b.name));
    // Entries without a folder come first: below a folder's title they would seem to belong to it.
    const single = found.filter(({ kind }) => given.has("d") || kind === "file");
    const folders = found.filter(({ kind }) => !given.has("d") && kind === "folder");
    for (const { name, kind, bytes } of single) {
      output.line(shown({ path: name, kind, bytes }, form, name));
    }
    const titled = names.length > 1 || form.deep;
    const listed = await forEach({ name: "ls", output }, folders, async ({ name }, index) => {
      if (titled) output.write(`${index > 0 || single.length > 0 ? "\n" : ""}${name}:\n`);
      await list(run, form, name);
    });
    return looked || listed;
  },
};

interface Form {
  readonly hidden: boolean;
  readonly long: boolean;
  readonly marks: boolean;
  readonly deep: boolean;
}

async function list(run: Run, form: Form, folder: string): Promise<void> {
  const { entries = [], cut = false } = await run.input.listing(folder) ?? {};
  const kept = sorted(entries).filter(({ path }) => form.hidden || !baseName(path).startsWith("."));
  for (const entry of kept) run.output.line(shown(entry, form, baseName(entry.path)));
  for (const { path, kind } of form.deep ? kept : []) {
    if (kind !== "folder") continue;
    const name = below(folder, baseName(path));
    run.output.write(`\n${name}:\n`);
    await list(run, form, name);
  }
  if (cut) throw new FileError(`${folder}: not all of it could be read`);
}

function shown(entry: Entry, form: Form, name: string): string {
  const mark = form.marks && entry.kind === "folder" ? "/" : "";
  const line = /[\n\r]/.test(name) ? JSON.stringify(name) : name;
  if (!form.long) return line + mark;
  return `${entry.kind === "folder" ? "d" : "-"} ${
    String(entry.bytes).padStart(10)
  } ${line}${mark}`;
}
