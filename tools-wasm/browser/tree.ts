/** A page as a tree of bounded size. @module */

/** A piece of text. */
export interface Text {
  readonly kind: "text";
  text: string;
}

/** An element. Names are in lower case. */
export interface Element {
  readonly kind: "element";
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly parent: Element | undefined;
  readonly children: Node[];
}

export type Node = Element | Text;

/** The elements beneath `root` in document order, without `root`. */
export function* descendants(root: Element): Generator<Element> {
  // An explicit stack: trees are deep, and the engine's stack is small.
  const left = [...root.children].reverse();
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.kind === "text") continue;
    yield node;
    for (let at = node.children.length - 1; at >= 0; at -= 1) {
      const child = node.children[at];
      if (child !== undefined) left.push(child);
    }
  }
}

/** The element itself, or its closest ancestor, with one of `names`; undefined for none. */
export function closest(element: Element, names: ReadonlySet<string>): Element | undefined {
  for (let at: Element | undefined = element; at !== undefined; at = at.parent) {
    if (names.has(at.name)) return at;
  }
  return undefined;
}

/** All text beneath the element, as written. */
export function rawText(element: Element): string {
  let text = "";
  const left: Node[] = [element];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.kind === "text") text += node.text;
    else left.push(...[...node.children].reverse());
  }
  return text;
}
