/** Which text names which control. @module */
import type { Canvas } from "./canvas.ts";
import { isControl } from "./control.ts";
import { descendants, type Element } from "./tree.ts";
import { PLAIN } from "./visibility.ts";
import { visibleText } from "./visible_text.ts";

/** The labels of a page. */
export interface Labels {
  readonly texts: ReadonlyMap<Element, string>;
  /** Labels whose text names a control and is not drawn again. */
  readonly used: ReadonlySet<Element>;
}

/** Finds the labels beneath `root`. */
export function labelsOf(canvas: Canvas, root: Element): Labels {
  const found = [...descendants(root)];
  const byId = new Map<string, Element>();
  for (const element of found) {
    const id = isControl(element) ? element.attributes.get("id") : undefined;
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
  }
  const texts = new Map<Element, string>();
  const used = new Set<Element>();
  for (const label of found) {
    if (label.name !== "label") continue;
    const id = label.attributes.get("for");
    const control = id === undefined ? firstControl(label) : byId.get(id);
    const text = control === undefined ? "" : visibleText(canvas, label, PLAIN);
    if (control === undefined || text === "") continue;
    texts.set(control, [texts.get(control), text].filter((each) => each !== undefined).join(" "));
    used.add(label);
  }
  return { texts, used };
}

function firstControl(label: Element): Element | undefined {
  for (const element of descendants(label)) if (isControl(element)) return element;
  return undefined;
}
