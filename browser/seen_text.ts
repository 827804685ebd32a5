/** The text of an element as people see it, on one line. Used by outline.ts and view.ts. @module */
import type { Canvas } from "./canvas.ts";
import { nameOf as called } from "../text/page_outline.ts";
import { cleanText } from "../text/page_text.ts";
import { type Element } from "./dom.ts";
import { isControl } from "./fields.ts";

/** Elements whose content is never text of the page. */
export const SILENT: ReadonlySet<string> = new Set(
  ("script style noscript template title meta link base svg math canvas object embed audio video " +
    "iframe frame noframes noembed datalist option optgroup param source track map head").split(
      " ",
    ),
);

const MAX = 6_000;
const NODES = 5_000;

/** Whether the element is marked as hidden. */
export function isHidden({ attributes }: Element): boolean {
  return attributes.get("aria-hidden")?.trim().toLowerCase() === "true";
}

/** The visible text beneath, at most 6,000 characters. An image contributes its `alt`. */
export function seenText(canvas: Canvas, element: Element): string {
  let text = "";
  let nodes = 0;
  const gather = (of: Element): void => {
    for (const node of of.children) {
      if (text.length > MAX || ++nodes > NODES) return;
      if (node.kind === "text") {
        if (node.seen) text += node.text;
        else if (node.text.trim() !== "") canvas.hide();
        continue;
      }
      if (SILENT.has(node.name) || isControl(node)) continue;
      if (isHidden(node)) {
        canvas.hide();
        continue;
      }
      const apart = node.inline ? "" : " ";
      text += apart;
      if (node.name === "img") text += node.seen ? ` ${node.attributes.get("alt") ?? ""} ` : "";
      else gather(node);
      text += apart;
    }
  };
  gather(element);
  return cleanText(text.slice(0, MAX), canvas.unseen).trim();
}

/** An element's name: its text, else its descriptive attributes. */
export function nameOf(canvas: Canvas, element: Element): string {
  return called(seenText(canvas, element), element.attributes);
}
