/** A page as it stands at one moment: what is there, and what of it people see. @module */

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
  /** Chromium's number for it: names it until it is gone. */
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
  /** Its own box is on the page and not hidden. */
  readonly seen: boolean;
  /** It has a box at all, shown or not. */
  readonly boxed: boolean;
  /** It stands in a line of text. */
  readonly inline: boolean;
  /** Spaces and line ends of its text count. */
  readonly spaced: boolean;
  /** What a field holds now. */
  readonly value: string | undefined;
  /** A box is ticked, an option chosen. */
  readonly on: boolean;
  /** Something listens for clicks on it. */
  readonly clickable: boolean;
  /** It, or something in it, is seen. */
  readonly shows: boolean;
  /** Characters of text in it. */
  readonly letters: number;
  /** Something in it answers to clicks or takes a value. */
  readonly live: boolean;
}

/** All elements beneath, in the order of the page, without `top` itself. */
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

/** All text beneath, seen or not. */
export function rawText(top: Element): string {
  let text = "";
  const gather = (of: Element): void => {
    for (const node of of.children) node.kind === "text" ? (text += node.text) : gather(node);
  };
  gather(top);
  return text;
}
