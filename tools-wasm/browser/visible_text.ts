/** The text of an element as people see it, on one line. @module */
import type { Canvas } from "./canvas.ts";
import { nameOf as called } from "../../text/page_outline.ts";
import { cleanText } from "../../text/page_text.ts";
import { isControl } from "./control.ts";
import type { Element } from "./tree.ts";
import { isSeen, type Look, lookOf } from "./visibility.ts";

/** Elements whose content is never text of the page. */
export const SILENT: ReadonlySet<string> = new Set(
  ("script style noscript template title meta link base svg math canvas object embed audio video iframe frame " +
    "noframes noembed datalist option optgroup param source track map").split(" "),
);

/** Elements that flow in a line of text and do not end the line. */
export const INLINE: ReadonlySet<string> = new Set(
  ("a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q rb rp rt ruby s samp small " +
    "span strike strong sub sup time tt u var wbr").split(" "),
);

const MAX = 6_000;
/** Maximum nodes to visit: hostile pages nest these elements deeply. */
const NODES = 5_000;

/** The visible text beneath `element`, at most 6,000 characters. An image contributes its `alt`. */
export function visibleText(canvas: Canvas, element: Element, look: Look): string {
  let text = "";
  let nodes = 0;
  const gather = (of: Element, its: Look): void => {
    for (const node of of.children) {
      if (text.length > MAX || ++nodes > NODES) return;
      if (node.kind === "text") {
        if (isSeen(its)) text += node.text;
        else if (node.text.trim() !== "") canvas.hidden.add(node);
        continue;
      }
      if (SILENT.has(node.name) || isControl(node)) continue;
      const inner = lookOf(node, its, canvas.sheet);
      if (inner === undefined) {
        if (node.children.length > 0) canvas.hidden.add(node);
        continue;
      }
      const apart = INLINE.has(node.name) ? "" : " ";
      text += apart;
      if (node.name === "img") text += ` ${node.attributes.get("alt") ?? ""} `;
      else gather(node, inner);
      text += apart;
    }
  };
  gather(element, look);
  return cleanText(text.slice(0, MAX), canvas.unseen).trim();
}

/** An element's name: its text, else its descriptive attributes. */
export function nameOf(canvas: Canvas, element: Element, look: Look): string {
  return called(visibleText(canvas, element, look), element.attributes);
}
