/** What the tools show a model: bounded text with file, lines, colour and label beside it. @module */
import { type Colour, type Label, mixColour, mixLabel } from "../../contracts/colour.ts";
import type { Source } from "../../contracts/question.ts";
import type { Hit } from "../../contracts/wiki.ts";

/** Something with a colour and a label. */
export interface Coloured {
  readonly colour: Colour;
  readonly label: Label;
}

/** How trusted and how confidential everything that is shown is together. */
export function taintOf(shown: readonly Coloured[]): Coloured {
  return shown.reduce<Coloured>(
    (all, { colour, label }) => ({
      colour: mixColour(all.colour, colour),
      label: mixLabel(all.label, label),
    }),
    { colour: "BLUE", label: "public" },
  );
}

/** Sources as a process remembers them; trusted ones need no mention. */
export function sourcesOf(
  shown: readonly (Coloured & { readonly file: string })[],
): readonly Source[] {
  const files = new Map(shown.map((each) => [each.file, each]));
  return [...files.values()].filter(({ colour }) => colour !== "BLUE").slice(0, 100).map(
    ({ file, colour, label }) => ({ source: `wiki ${file}`.slice(0, 512), colour, label }),
  );
}

/** `(YELLOW, internal, stale)`. */
export function marks({ colour, label }: Coloured, more: readonly string[] = []): string {
  return `(${[colour, label, ...more].join(", ")})`;
}

/** Lines with their numbers, as a citation needs them. */
export function numbered(text: string, from: number): string {
  return text.split("\n").map((line, n) => `${from + n}│ ${line}`).join("\n");
}

/** One passage. */
export function hitText(hit: Hit, n: number): string {
  const { file, startLine, endLine, title, headings, stale, kind } = hit;
  const above = headings.length === 0 ? [] : [`under ${headings.join(" > ")}`];
  return [
    `[${n}] ${file}:${startLine}-${endLine} ${JSON.stringify(title)} ` +
    marks(hit, [kind, ...(stale ? ["stale"] : [])]),
    ...above,
    numbered(hit.text, startLine),
  ].join("\n");
}
