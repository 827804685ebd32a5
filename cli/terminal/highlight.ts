/** Colours code in answers with highlight.js's grammars. @module */
// @ts-types="./lowlight.d.ts"
import { common, createLowlight } from "lowlight";
import { displayText } from "../../text/mod.ts";
import type { Highlight } from "./answer_view.ts";
import type { Paint } from "./paint.ts";

/** Most characters that are parsed for one line, with those above it: each line parses them again. */
const MAX_CODE = 8_000;

type Node = { readonly type: string } & {
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly properties?: { readonly className?: unknown };
};

const STYLES: Readonly<Record<string, keyof Paint>> = {
  "hljs-comment": "dim",
  "hljs-quote": "dim",
  "hljs-string": "green",
  "hljs-regexp": "green",
  "hljs-addition": "green",
  "hljs-deletion": "red",
  "hljs-number": "yellow",
  "hljs-literal": "yellow",
  "hljs-keyword": "cyan",
  "hljs-built_in": "cyan",
  "hljs-selector-tag": "cyan",
  "hljs-name": "cyan",
  "hljs-title": "bold",
  "hljs-section": "bold",
};

/** Makes a highlighter; code in an unknown language stays plain. All text passes `displayText`. */
export function makeHighlight(paint: Paint): Highlight {
  const lowlight = createLowlight(common);
  return (line, language, before) => {
    const plain = displayText(line);
    const code = [...before, line].join("\n");
    if (!lowlight.registered(language) || code.length > MAX_CODE) return plain;
    const rows = [""];
    const walk = (node: Node, style: keyof Paint | undefined): void => {
      if (node.type === "text") {
        (node.value ?? "").split("\n").forEach((text, n) => {
          if (n > 0) rows.push("");
          const safe = displayText(text);
          rows[rows.length - 1] += style === undefined ? safe : paint[style](safe);
        });
        return;
      }
      const names = node.properties?.className;
      const own = Array.isArray(names) ? names.map((name) => STYLES[String(name)]) : [];
      for (const child of node.children ?? []) walk(child, own.find((each) => each) ?? style);
    };
    walk(lowlight.highlight(language, code) as Node, undefined);
    return rows.at(-1) ?? plain;
  };
}
