/** Draws a page as lines: roles, names, refs, text, addresses. @module */
import type { Canvas } from "./canvas.ts";
import { dataRows, LANDMARKS, LISTS, LOADED, nameOf as called } from "../../text/page_outline.ts";
import { cleanLine, cleanText, quoted } from "../../text/page_text.ts";
import { controlLine, sendingLines } from "./field_line.ts";
import { isControl } from "./control.ts";
import { descendants, type Element, type Node, rawText } from "./tree.ts";
import { isSeen, type Look, lookOf, PLAIN } from "./visibility.ts";
import { readPlace } from "./address.ts";

/** Draws what people would see of the page beneath `root`. */
export function drawOutline(canvas: Canvas, root: Element): void {
  const labels = labelsOf(canvas, root);
  let text = "";

  const flush = (depth: number): void => {
    const line = cleanText(text, canvas.unseen).trim();
    text = "";
    if (line !== "") canvas.line(depth, `text: ${line}`);
  };

  const children = (element: Element, look: Look, depth: number): void => {
    let number = 0;
    for (const node of element.children) {
      if (canvas.isFull()) return;
      if (node.kind === "element" && node.name === "li" && element.name === "ol") number += 1;
      draw(node, look, { depth, number });
    }
  };

  const draw = (
    node: Node,
    above: Look,
    at: { readonly depth: number; readonly number: number },
  ): void => {
    const { depth } = at;
    if (node.kind === "text") {
      if (isSeen(above)) text += node.text;
      else if (node.text.trim() !== "") canvas.hidden.add(node);
      return;
    }
    const { name } = node;
    if (SILENT.has(name) && leadsTo(node) === undefined && !LOADED.has(name)) return;
    const look = lookOf(node, above, canvas.sheet);
    if (look === undefined) {
      if (node.children.length > 0) canvas.hidden.add(node);
      return;
    }
    if (LOADED.has(name)) return block(depth, `${name} (not loaded)`);
    if (leadsTo(node) !== undefined) return link(node, look, depth);
    if (isControl(node)) return control(node, look, depth);
    if (INLINE.has(name) || name === "br") return inline(node, look, depth);
    flush(depth);
    if (name === "form") form(node, look, depth);
    else if (/^h[1-6]$/.test(name)) heading(node, look, depth);
    else if (name === "pre") preformatted(node, look, depth);
    else if (name === "table") table(node, look, depth);
    else if (name === "hr") canvas.line(depth, "separator");
    else if (name === "li" || name === "dt") item(node, look, at);
    else if (LISTS.has(name)) children(node, look, depth + (node.parent?.name === "li" ? 1 : 0));
    else if (LANDMARKS.has(name)) landmark(node, look, depth);
    else children(node, look, depth);
    flush(depth);
  };

  const block = (depth: number, line: string): void => {
    flush(depth);
    canvas.line(depth, line);
  };

  const link = (element: Element, look: Look, depth: number): void => {
    flush(depth);
    const line = linkLine(canvas, element, nameOf(canvas, element, look));
    if (line !== undefined) canvas.line(depth, line);
    // Controls inside a link still work by themselves.
    if (element.name === "a") active(element, look, depth + 1);
  };

  const control = (element: Element, look: Look, depth: number): void => {
    const found = canvas.forms.controls.get(element);
    if (found === undefined) return;
    flush(depth);
    const own = element.name === "button" ? nameOf(canvas, element, look) : "";
    const { attributes } = element;
    const label = [
      own,
      labels.texts.get(element),
      attributes.get("aria-label"),
      attributes.get("placeholder"),
      attributes.get("title"),
      attributes.get("alt"),
    ]
      .find((each) => each !== undefined && each.trim() !== "");
    const line = controlLine(canvas, found, label ?? "");
    if (line !== undefined) canvas.line(depth, line);
  };

  const inline = (element: Element, look: Look, depth: number): void => {
    if (element.name === "br") return flush(depth);
    if (element.name === "img") {
      const alt = cleanText(element.attributes.get("alt") ?? "", canvas.unseen).trim();
      return alt === "" ? undefined : block(depth, `image ${quoted(alt, 300)}`);
    }
    if (!labels.used.has(element)) return children(element, look, depth);
    // A label's text is its control's name, so only its links and controls are drawn.
    active(element, look, depth);
  };

  const heading = (element: Element, look: Look, depth: number): void => {
    const title = visibleText(canvas, element, look);
    if (title !== "") canvas.line(depth, `heading ${element.name.slice(1)} ${quoted(title, 500)}`);
    active(element, look, depth + 1);
  };

  const item = (
    element: Element,
    look: Look,
    { depth, number }: { readonly depth: number; readonly number: number },
  ): void => {
    canvas.mark(number > 0 ? `${number}. ` : "- ");
    children(element, look, depth);
    flush(depth);
    canvas.mark("");
  };

  const landmark = (element: Element, look: Look, depth: number): void => {
    const label = cleanText(element.attributes.get("aria-label") ?? "").trim();
    canvas.line(
      depth,
      (LANDMARKS.get(element.name) ?? "") + (label === "" ? "" : ` ${quoted(label)}`),
    );
    children(element, look, depth + 1);
    flush(depth + 1);
  };

  const form = (element: Element, look: Look, depth: number): void => {
    const found = canvas.forms.forms.get(element);
    if (found === undefined) return;
    const ref = canvas.ref({ kind: "form", form: found });
    const where = found.place.kind === "web"
      ? found.place.url
      : `${found.place.what} (not followed)`;
    const label = element.attributes.get("aria-label") ?? element.attributes.get("name") ?? "";
    canvas.line(
      depth,
      `form ${ref ?? ""} ${
        label === "" ? "" : `${quoted(label)} `
      }${found.method.toUpperCase()} → ${cleanText(where)}`,
    );
    children(element, look, depth + 1);
    flush(depth + 1);
    for (const line of sendingLines(found, canvas.targets, ref)) canvas.line(depth + 1, line);
  };

  const preformatted = (element: Element, look: Look, depth: number): void => {
    if (!isAllSeen(element, look)) return children(element, look, depth);
    for (const line of rawText(element).replace(/^\r?\n/, "").trimEnd().split("\n")) {
      canvas.line(depth, `| ${cleanLine(line, canvas.unseen)}`);
    }
    active(element, look, depth);
  };

  const isAllSeen = (element: Element, look: Look): boolean =>
    isSeen(look) && element.children.every((node) => {
      const its = node.kind === "text" ? look : lookOf(node, look, canvas.sheet);
      return its !== undefined && (node.kind === "text" || isAllSeen(node, its));
    });

  const table = (element: Element, look: Look, depth: number): void => {
    const rows = dataRows(descendants(element), isControl);
    if (rows === undefined) return children(element, look, depth);
    canvas.line(depth, "table");
    for (const { cells, header } of rows) {
      if (canvas.isFull()) return;
      const seen = cells.map((cell) => ({ cell, its: lookBeneath(cell, element, look) }));
      const texts = seen.map(({ cell, its }) =>
        its === undefined ? "" : visibleText(canvas, cell, its)
      );
      if (texts.some((each) => each !== "")) {
        canvas.line(
          depth + 1,
          `${header ? "header" : "row"}: ${texts.map((each) => quoted(each, 1_000)).join(" | ")}`,
        );
      }
      for (const { cell, its } of seen) {
        if (its === undefined) canvas.hidden.add(cell);
        else active(cell, its, depth + 2);
      }
    }
  };

  const lookBeneath = (element: Element, top: Element, look: Look): Look | undefined => {
    if (element === top || element.parent === undefined) return look;
    const above = lookBeneath(element.parent, top, look);
    return above && lookOf(element, above, canvas.sheet);
  };

  /** Draws links and controls beneath an element whose text was drawn already. */
  const active = (element: Element, look: Look, depth: number): void => {
    for (const node of element.children) {
      if (node.kind === "text") continue;
      if (leadsTo(node) !== undefined || isControl(node)) {
        draw(node, look, { depth, number: 0 });
        continue;
      }
      const its = SILENT.has(node.name) ? undefined : lookOf(node, look, canvas.sheet);
      if (its !== undefined) active(node, its, depth);
    }
  };

  children(root, PLAIN, 0);
  flush(0);
}

// Lines for elements that lead to another page.

/** The address that an element leads to; undefined for none. */
function leadsTo(element: Element): string | undefined {
  const { name, attributes } = element;
  if (name === "a" || name === "area") return attributes.get("href");
  return name === "iframe" || name === "frame" ? attributes.get("src") ?? "about:blank" : undefined;
}

/** `link e3 "Docs" → https://example.org/docs`; without a ref where it is not followed. */
function linkLine(canvas: Canvas, element: Element, name: string): string | undefined {
  const written = leadsTo(element);
  if (written === undefined) return undefined;
  const frame = element.name === "iframe" || element.name === "frame";
  const role = frame ? "frame" : "link";
  const place = readPlace(written, canvas.bases.links);
  const shown = quoted(name, 300);
  if (place.kind === "other") {
    const what = cleanText(place.what);
    return `${role} ${shown} (${what}${what.endsWith(":") ? "" : ":"} not followed)`;
  }
  if (place.fragment !== "" && place.url === urlOf(canvas)) {
    return `${role} ${shown} (to a place on this page)`;
  }
  const ref = canvas.ref({ kind: "link", url: place.url });
  return ref === undefined
    ? `${role} ${shown} (no ref: too many)`
    : `${role} ${ref} ${shown} → ${place.url}`;
}

function urlOf({ bases: { page } }: Canvas): string {
  return `${page.scheme}://${page.host}${page.path}${page.query}`;
}

// Which text labels which control.

/** The labels of a page. */
interface Labels {
  readonly texts: ReadonlyMap<Element, string>;
  /** Labels whose text names a control and is not drawn again. */
  readonly used: ReadonlySet<Element>;
}

/** Finds the labels beneath `root`. */
function labelsOf(canvas: Canvas, root: Element): Labels {
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

// The text of an element as people see it, on one line.

/** Elements whose content is never text of the page. */
const SILENT: ReadonlySet<string> = new Set(
  ("script style noscript template title meta link base svg math canvas object embed audio video iframe frame " +
    "noframes noembed datalist option optgroup param source track map").split(" "),
);

/** Elements that flow in a line of text and do not end the line. */
const INLINE: ReadonlySet<string> = new Set(
  ("a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q rb rp rt ruby s samp small " +
    "span strike strong sub sup time tt u var wbr").split(" "),
);

const MAX = 6_000;
/** Maximum nodes to visit: hostile pages nest these elements deeply. */
const NODES = 5_000;

/** The visible text beneath `element`, at most 6,000 characters. An image contributes its `alt`. */
function visibleText(canvas: Canvas, element: Element, look: Look): string {
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
function nameOf(canvas: Canvas, element: Element, look: Look): string {
  return called(visibleText(canvas, element, look), element.attributes);
}
