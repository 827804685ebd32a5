/**
 * Builds a tree from Chromium's snapshot of a page. TRUST: from a process that runs hostile pages.
 * Used by view.ts.
 * @module
 */
import type { Protocol } from "puppeteer-core";
import { Fault } from "../contracts/base/fault.ts";
import {
  type Box,
  isReadable,
  isShown,
  OPEN,
  STYLES,
  type Styles,
  type Within,
  within,
} from "./boxes.ts";
import type { Element, Node } from "./dom.ts";

type Snapshot = Protocol.DOMSnapshot.CaptureSnapshotResponse;
type Document = Snapshot["documents"][number];

/** A node's entry in the accessibility tree. */
export interface Accessible {
  readonly role: string;
  readonly name: string;
  readonly disabled: boolean;
  /** Chosen or ticked. */
  readonly on: boolean;
}

/** Maximum number and depth of a page's nodes. */
const NODES = 60_000;
const DEPTH = 300;
const ELEMENT = 1;
const TEXT = 3;
const FRAGMENT = 11;

/** A page's tree, and whether it is complete. */
export interface Read {
  readonly root: Element;
  readonly whole: boolean;
}

/** Accessibility entries by Chromium's number of the node. */
export function accessibleOf(
  nodes: readonly Protocol.Accessibility.AXNode[],
): ReadonlyMap<number, Accessible> {
  const spoken = new Map<number, Accessible>();
  for (const { backendDOMNodeId: id, ignored, role, name, properties = [] } of nodes) {
    if (id === undefined || ignored) continue;
    const is = (what: string): boolean =>
      properties.some((each) =>
        each.name === what && (each.value.value === true || each.value.value === "true")
      );
    spoken.set(id, {
      role: typeof role?.value === "string" ? role.value : "",
      name: typeof name?.value === "string" ? name.value : "",
      disabled: is("disabled"),
      on: is("checked") || is("selected"),
    });
  }
  return spoken;
}

/** The tree of the main document. @throws Fault `upstream` when there is none */
export function readDom(snapshot: Snapshot, spoken: ReadonlyMap<number, Accessible>): Read {
  const document = snapshot.documents[0];
  if (document === undefined) {
    throw new Fault("upstream", "Cannot show the page: it has no document");
  }
  const { strings } = snapshot;
  const { nodes, layout } = document;
  const text = (at: number | undefined): string => at === undefined ? "" : strings[at] ?? "";
  const parents = nodes.parentIndex ?? [];
  const below = new Map<number, number[]>();
  for (const [at, parent] of parents.entries()) {
    const own = below.get(parent);
    if (own === undefined) below.set(parent, [at]);
    else own.push(at);
  }
  const laid = new Map<number, number>();
  for (const [at, node] of layout.nodeIndex.entries()) if (!laid.has(node)) laid.set(node, at);
  const boxes = boxesOf(document, strings);
  const rare = rareOf(document, strings);
  let left = NODES;
  let whole = true;

  const childrenOf = (
    at: number,
    inner: Within,
    styles: Styles,
    depth: number,
  ): readonly Node[] => {
    if (depth > DEPTH) {
      whole = false;
      return [];
    }
    return (below.get(at) ?? []).flatMap((child) => read(child, inner, styles, depth));
  };

  const read = (at: number, above: Within, inherited: Styles, depth: number): readonly Node[] => {
    if (--left < 0) {
      whole = false;
      return [];
    }
    const type = nodes.nodeType?.[at];
    const place = laid.get(at);
    if (type === TEXT) {
      const shown = place !== undefined && isTextShown(boxes, place, above, inherited);
      return [{ kind: "text", text: text(nodes.nodeValue?.[at]), seen: shown }];
    }
    // A shadow root: its contents take its place.
    if (type === FRAGMENT) return childrenOf(at, above, inherited, depth);
    if (type !== ELEMENT) return [];
    const id = nodes.backendNodeId?.[at] ?? 0;
    const styles = place === undefined ? inherited : boxes.styles(place);
    const box = place === undefined ? undefined : boxes.box(place);
    const inner = box === undefined ? above : within(above, box, styles);
    const accessible = spoken.get(id);
    const attributes = attributesOf(nodes.attributes?.[at] ?? [], text);
    const name = text(nodes.nodeName?.[at]).toLowerCase();
    const seen = box !== undefined && isShown(box, inner, styles);
    // A frame's contents are another page.
    const framed = name === "iframe" || name === "frame";
    const children = framed ? [] : childrenOf(at, inner, styles, depth + 1);
    return [{
      ...{ kind: "element", id, attributes, name, seen, children },
      ...summaryOf(children, seen),
      role: accessible?.role ?? "",
      label: accessible?.name ?? "",
      disabled: accessible?.disabled ?? false,
      boxed: place !== undefined,
      inline: styles.display.startsWith("inline") || styles.display === "contents" ||
        styles.display.startsWith("ruby"),
      value: rare.value(at),
      on: rare.on(at) || (accessible?.on ?? false),
      clickable: rare.clickable(at),
    }];
  };

  const top = childrenOf(0, OPEN, PLAIN, 0);
  const root: Element = {
    ...{ kind: "element", id: 0, name: "#page", attributes: new Map(), children: top, role: "" },
    ...{ label: "", disabled: false, boxed: true, seen: true, inline: false },
    ...{ value: undefined, on: false, clickable: false, ...summaryOf(top, true) },
  };
  return { root, whole };
}

const LIVE: ReadonlySet<string> = new Set(["a", "button", "input", "select", "textarea"]);

/** Computed once for each element, because pages are deep. */
function summaryOf(
  children: readonly Node[],
  seen: boolean,
): Pick<Element, "shows" | "textLength" | "live"> {
  let [shows, textLength, live] = [seen, 0, false];
  for (const node of children) {
    shows ||= node.kind === "text" ? node.seen : node.shows;
    textLength += node.kind === "text" ? node.text.trim().length : node.textLength;
    live ||= node.kind === "element" && (node.live || node.clickable || LIVE.has(node.name));
  }
  return { shows, textLength, live };
}

const PLAIN: Styles = Object.freeze({
  ...Object.fromEntries(STYLES.map((name) => [name, ""])) as Styles,
  ...{ display: "block", visibility: "visible", opacity: "1", "font-size": "16px" },
});

interface Boxes {
  box(place: number): Box;
  styles(place: number): Styles;
}

function boxesOf({ layout }: Document, strings: readonly string[]): Boxes {
  return {
    box(place: number): Box {
      const [x = 0, y = 0, width = 0, height = 0] = layout.bounds[place] ?? [];
      return [x, y, width, height];
    },
    styles(place: number): Styles {
      const own = layout.styles[place] ?? [];
      const named = STYLES.map((name, at) => [name, strings[own[at] ?? -1] ?? ""] as const);
      return Object.fromEntries(named) as Styles;
    },
  };
}

/** A text's own box has no styles; it is painted with those of its parent. */
function isTextShown(boxes: Boxes, place: number, above: Within, inherited: Styles): boolean {
  return isShown(boxes.box(place), above, inherited) &&
    isReadable(inherited, above);
}

function rareOf(
  { nodes }: Document,
  strings: readonly string[],
): {
  value(at: number): string | undefined;
  on(at: number): boolean;
  clickable(at: number): boolean;
} {
  const values = new Map<number, string>();
  for (const held of [nodes.inputValue, nodes.textValue]) {
    for (const [place, at] of (held?.index ?? []).entries()) {
      values.set(at, strings[held?.value[place] ?? -1] ?? "");
    }
  }
  const on = new Set([...nodes.inputChecked?.index ?? [], ...nodes.optionSelected?.index ?? []]);
  const clickable = new Set(nodes.isClickable?.index ?? []);
  return {
    value: (at) => values.get(at),
    on: (at) => on.has(at),
    clickable: (at) => clickable.has(at),
  };
}

function attributesOf(
  pairs: readonly number[],
  text: (at: number | undefined) => string,
): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 2) {
    attributes.set(text(pairs[at]).toLowerCase(), text(pairs[at + 1]));
  }
  return attributes;
}
