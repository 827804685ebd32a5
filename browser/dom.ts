/** A page at one moment: its nodes, and which of them people see. @module */

/** A node of a page. */
export type Node = Element | Text;

/** A piece of text. */
export interface Text {
  readonly kind: "text";
  readonly text: string;
  readonly seen: boolean;
}

/** An element. */
export interface Element {
  readonly kind: "element";
  /** Chromium's number for the element, valid as long as the element exists. */
  readonly id: number;
  /** In lower case. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Node[];
  /** From the accessibility tree; empty where it has none. */
  readonly role: string;
  /** Its accessible name. */
  readonly label: string;
  readonly disabled: boolean;
  /** Whether its own box is on the page and not hidden. */
  readonly seen: boolean;
  /** Whether it has a box, shown or not. */
  readonly boxed: boolean;
  /** Whether it flows in a line of text. */
  readonly inline: boolean;
  /** A field's current value. */
  readonly value: string | undefined;
  /** Whether a box is ticked or an option chosen. */
  readonly on: boolean;
  /** Whether something listens for clicks on it. */
  readonly clickable: boolean;
  /** Whether it, or something in it, is seen. */
  readonly shows: boolean;
  /** Number of text characters in it. */
  readonly textLength: number;
  /** Whether something in it responds to clicks or takes a value. */
  readonly live: boolean;
}

/** All elements beneath `top`, in document order, without `top` itself. */
export function* descendants(top: Element): Generator<Element> {
  const waiting: Node[] = top.children.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.kind === "text") continue;
    yield node;
    for (let at = node.children.length - 1; at >= 0; at--) {
      const child = node.children[at];
      if (child !== undefined) waiting.push(child);
    }
  }
}

/** All text beneath `top`, seen or not. */
export function rawText(top: Element): string {
  let text = "";
  const gather = (of: Element): void => {
    for (const node of of.children) node.kind === "text" ? (text += node.text) : gather(node);
  };
  gather(top);
  return text;
}
