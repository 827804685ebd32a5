/** Chunks of source code: blocks between empty lines, under the name that encloses them. @module */
import type { ByteLine } from "./_byte_lines.ts";
import type { Chunker } from "./_chunk_markdown.ts";
import { type CodeLine, makeCodeNames } from "./_code_names.ts";
import type { Cutter } from "./_cutter.ts";

/** From this size a declaration at the margin begins a chunk of its own. */
const OWN_CHUNK = 200;
const CLOSER = /^(?:[\])}]|end\b|fi\b|done\b|esac\b|else\b|catch\b|finally\b|elif\b|except\b)/;

/** A chunker of code in a file of this name, which says the language. One that is not known gives no headings. */
export function makeCodeChunker(cutter: Cutter, file: string): Chunker {
  const read = makeCodeNames(file);
  let unit: (ByteLine & { readonly says: CodeLine })[] = [];
  let stack: { readonly indent: number; readonly name: string }[] = [];

  /** Follows the indentation; gives the names around the unit's first declaration, else around the unit. */
  function follow(): { readonly path: readonly string[]; readonly margin: boolean } {
    let path: readonly string[] | undefined;
    let margin = false;
    for (const { text, says: { name, comment } } of unit) {
      const content = text.trimStart();
      const indent = text.length - content.length;
      // A comment at the margin may stand within what is indented.
      if (comment || CLOSER.test(content)) continue;
      if (name === undefined && indent > 0) continue;
      stack = stack.filter((outer) => outer.indent < indent);
      if (name === undefined) continue;
      stack = [...stack, { indent, name }];
      path ??= stack.map((outer) => outer.name);
      margin ||= indent === 0;
    }
    return { path: path ?? stack.map(({ name }) => name), margin };
  }

  function close(): void {
    if (unit.length === 0) return;
    const { path, margin } = follow();
    if (margin && cutter.size() >= OWN_CHUNK) cutter.section();
    else cutter.divide();
    cutter.under(path);
    for (const line of unit) cutter.add(line);
    unit = [];
  }

  return {
    line(line): void {
      const says = read(line.text);
      if (line.text.trim() === "") return close();
      unit.push({ ...line, says });
      if (unit.length >= 200) close();
    },
    end(): void {
      close();
      cutter.end();
    },
  };
}
