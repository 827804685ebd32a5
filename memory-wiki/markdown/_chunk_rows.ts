/** Chunks of tables (CSV, TSV) under the names of their columns, and of JSON under its keys. @module */
import type { ByteLine } from "./_byte_lines.ts";
import type { Chunker } from "./_chunk_markdown.ts";
import type { Cutter } from "./_cutter.ts";

/** Lines after which a quote that is still open is taken for a sign like any other. */
const MOST_OPEN = 64;
const KEY = /^"((?:[^"\\]|\\.){1,80})"\s*:\s*([\[{])?/;
/** Columns of indentation up to which JSON is divided between chunks. */
const SHALLOW = 4;
const DEEPEST = 6;

/** A chunker of records, one or several lines each. */
export function makeRowChunker(cutter: Cutter): Chunker {
  let record: ByteLine[] = [];
  let open = false;
  let first = true;

  function close(): void {
    if (record.length === 0) return;
    if (first) cutter.under([columnNames(record[0]?.text ?? "")].filter((names) => names !== ""));
    cutter.divide();
    for (const line of record) cutter.add(line, first);
    first = false;
    open = false;
    record = [];
  }

  return {
    line(line): void {
      if (line.text.trim() === "" && !open) return close();
      record.push(line);
      let quotes = 0;
      for (let at = line.text.indexOf('"'); at >= 0; at = line.text.indexOf('"', at + 1)) {
        quotes += 1;
      }
      if (quotes % 2 === 1) open = !open;
      if (!open || record.length >= MOST_OPEN) close();
    },
    end(): void {
      close();
      cutter.end();
    },
  };
}

/** A chunker of JSON and of JSON lines. */
export function makeJsonChunker(cutter: Cutter): Chunker {
  let stack: { readonly indent: number; readonly key: string }[] = [];
  return {
    line(line): void {
      const content = line.text.slice(0, 2_000).trimStart();
      if (content === "") return;
      const indent = line.text.length - line.text.trimStart().length;
      const key = KEY.exec(content);
      if (indent <= SHALLOW && !/^[\]}]/.test(content)) cutter.divide();
      stack = stack.filter((outer) => outer.indent < indent);
      cutter.under(stack.map((outer) => outer.key));
      cutter.add(line);
      if (key?.[2] !== undefined && stack.length < DEEPEST) {
        stack = [...stack, { indent, key: key[1] ?? "" }];
      }
    },
    end: () => cutter.end(),
  };
}

function columnNames(header: string): string {
  const names = header.slice(0, 400).split(/[,;\t|]/).map((name) =>
    name.replace(/^\s*"|"\s*$/g, "").trim()
  );
  return names.filter((name) => name !== "").join(", ").slice(0, 120);
}
