/** Chunks of source code: blocks between empty lines, under the name that encloses them. @module */
import type { ByteLine } from "./_byte_lines.ts";
import type { Chunker } from "./_chunk_markdown.ts";
import type { Cutter } from "./_cutter.ts";

/** From this size a declaration at the margin begins a chunk of its own. */
const OWN_CHUNK = 200;
const LOOKED_AT = 240;
const WORDS =
  /^(?:(?:export|default|pub(?:\([a-z ]{1,20}\))?|public|private|protected|internal|static|async|abstract|final|unsafe|extern|inline|declare|override|sealed|partial|virtual|readonly) +)*(?:function\*?|class|interface|type|enum|struct|trait|impl|fn|def|func|module|namespace|package|sub|proc|object|record|union|protocol|extension|macro_rules!) *(?:\([^()]{0,80}\) *)?(?:<[^<>]{0,40}> *)?([\p{L}_$][\p{L}\p{N}_$.:-]{0,80})/iu;
const VALUE = /^(?:export +)?(?:const|let|var|val|static) +([\p{L}_$][\p{L}\p{N}_$]{0,80})/u;
const METHOD =
  /^(?:[\p{L}_$][\p{L}\p{N}_$<>\[\],*&:]{0,60} +){0,5}[*&]?([\p{L}_$~][\p{L}\p{N}_$:]{0,80})\([^;]{0,160}(?:\{|\)|,|\()$/u;
const NO_NAME: ReadonlySet<string> = new Set(
  "if for while switch catch return function else do with elif unless until when match new throw await"
    .split(" "),
);
const CLOSER = /^(?:[\])}]|end\b|fi\b|done\b|esac\b|else\b|catch\b|finally\b|elif\b|except\b)/;

/** The name that a line of code declares, if it does. */
export function declaredName(line: string, indent: number): string | undefined {
  const text = line.slice(0, LOOKED_AT).trim();
  const name = WORDS.exec(text)?.[1] ?? (indent === 0 ? VALUE.exec(text)?.[1] : undefined);
  // A name in a list of imports declares nothing.
  if (name !== undefined) return NO_NAME.has(name) || text.endsWith(",") ? undefined : name;
  if (!/[({,]$|\)$/.test(text)) return undefined;
  const first = /^[\p{L}_$]+/u.exec(text)?.[0] ?? "";
  const method = NO_NAME.has(first) ? undefined : METHOD.exec(text)?.[1];
  const called = text.endsWith(")") && indent > 0;
  return method === undefined || NO_NAME.has(method) || called || text.includes("=")
    ? undefined
    : method;
}

/** A chunker of code. */
export function makeCodeChunker(cutter: Cutter): Chunker {
  let unit: ByteLine[] = [];
  let stack: { readonly indent: number; readonly name: string }[] = [];

  /** Follows the indentation; gives the names around the unit's first declaration, else around the unit. */
  function follow(): { readonly path: readonly string[]; readonly margin: boolean } {
    let path: readonly string[] | undefined;
    let margin = false;
    for (const { text } of unit) {
      const content = text.trimStart();
      const indent = text.length - content.length;
      if (CLOSER.test(content)) continue;
      const name = declaredName(content, indent);
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
      if (line.text.trim() === "") return close();
      unit.push(line);
      if (unit.length >= 200) close();
    },
    end(): void {
      close();
      cutter.end();
    },
  };
}
