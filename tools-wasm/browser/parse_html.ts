/** HTML into a bounded tree. @module */
import { Parser } from "htmlparser2";
import type { Element, Text } from "./tree.ts";

/** A page that was read. */
export interface Parsed {
  readonly root: Element;
  readonly comments: number;
  /** Why the rest of the page is not there. */
  readonly cut?: string;
}

/** Bounds of one page. */
const NODES = 30_000;
/** Levels of elements; what lies deeper is put at this level. */
const DEPTH = 150;
/** Levels after which nothing more is read: the parser's own work grows with its depth. */
const DEEPEST = 500;
const ATTRIBUTES = 100;
/** Characters that are parsed before the bounds are looked at again. */
const STEP = 2_048;

/** Parses a page, whatever it holds. Stops at the bounds and says so. */
export function parseHtml(html: string): Parsed {
  const root: Element = {
    kind: "element",
    name: "#page",
    attributes: new Map(),
    parent: undefined,
    children: [],
  };
  const open: Element[] = [root];
  let [nodes, over, comments] = [0, 0, 0];
  const here = (): Element => open.at(-1) ?? root;
  const parser = new Parser({
    onopentag(name, attributes) {
      nodes += 1;
      if (nodes > NODES) return;
      const parent = here();
      const element: Element = {
        kind: "element",
        name: name.toLowerCase(),
        attributes: new Map(Object.entries(attributes).slice(0, ATTRIBUTES)),
        parent,
        children: [],
      };
      parent.children.push(element);
      if (open.length < DEPTH) open.push(element);
      else over += 1;
    },
    onclosetag() {
      if (nodes > NODES) return;
      if (over > 0) over -= 1;
      else if (open.length > 1) open.pop();
    },
    ontext(text) {
      if (nodes > NODES) return;
      const { children } = here();
      const last: Element | Text | undefined = children.at(-1);
      if (last?.kind === "text") last.text += text;
      else {
        nodes += 1;
        children.push({ kind: "text", text });
      }
    },
    oncomment() {
      comments += 1;
    },
  }, { decodeEntities: true });
  let cut: string | undefined;
  for (let from = 0; from < html.length && cut === undefined; from += STEP) {
    parser.write(html.slice(from, from + STEP));
    if (nodes > NODES) cut = `the page has more than ${NODES} pieces; the rest is left out`;
    if (over > DEEPEST) {
      cut = `the page is nested more than ${DEEPEST} levels deep; the rest is left out`;
    }
  }
  if (cut === undefined) parser.end();
  return { root, comments, ...(cut === undefined ? {} : { cut }) };
}
