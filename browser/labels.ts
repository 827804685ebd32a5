/** Which text names which control. @module */
import type { Canvas } from "./canvas.ts";
import { descendants, type Element } from "./dom.ts";
import { isControl } from "./fields.ts";
import { seenText } from "./seen_text.ts";

/** The seen text of labels, by control. */
export function labelsOf(canvas: Canvas, root: Element): ReadonlyMap<Element, string> {
  const byId = new Map<string, Element>();
  for (const element of descendants(root)) {
    const id = isControl(element) ? element.attributes.get("id") : undefined;
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
  }
  const texts = new Map<Element, string>();
  for (const label of descendants(root)) {
    if (label.name !== "label") continue;
    const id = label.attributes.get("for");
    const control = id === undefined ? [...descendants(label)].find(isControl) : byId.get(id);
    const text = control === undefined ? "" : seenText(canvas, label);
    if (control === undefined || text === "") continue;
    texts.set(control, [texts.get(control), text].filter((each) => each !== undefined).join(" "));
  }
  return texts;
}
