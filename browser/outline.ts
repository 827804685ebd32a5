/** Draws a page as lines: roles, names, refs, text, addresses. Used by view.ts. @module */
import { readPlace } from "./address.ts";
import type { Canvas } from "./canvas.ts";
import { dataRows, LANDMARKS, LISTS, LOADED } from "../text/page_outline.ts";
import { cleanLine, cleanText, quoted } from "../text/page_text.ts";
import { descendants, type Element, type Node, rawText } from "./dom.ts";
import { controlLine, isAction, isControl } from "./fields.ts";
import { isHidden, nameOf, seenText, SILENT } from "./seen_text.ts";
import { sendingLines, type Sendings } from "./sending.ts";

/** Maximum characters of a text that names something clickable. */
const BUTTON = 120;

/** Facts about a page, collected before drawing. */
interface Drawn {
  /** The page's address, without its fragment. */
  readonly url: string;
  /** The base of relative links. */
  readonly base: string;
  readonly sendings: Sendings;
  /** The form of each control. */
  readonly owners: ReadonlyMap<Element, Element>;
  /** Label texts by control. */
  readonly labels: ReadonlyMap<Element, string>;
}

/** Draws what people would see of the page beneath `root`. */
export function drawOutline(canvas: Canvas, root: Element, drawn: Drawn): void {
  const { url, base, owners } = drawn;
  const named = new Set(drawn.labels.keys());
  const ids = new Set([...named].map(({ attributes }) => attributes.get("id")));
  let text = "";

  const flush = (depth: number): void => {
    const line = cleanText(text, canvas.unseen).trim();
    text = "";
    if (line !== "") canvas.line(depth, `text: ${line}`);
  };
  const children = (element: Element, depth: number): void => {
    let number = 0;
    for (const node of element.children) {
      if (canvas.isFull()) return;
      if (node.kind === "element" && node.name === "li" && element.name === "ol") number += 1;
      draw(node, depth, number);
    }
  };

  const draw = (node: Node, depth: number, number = 0): void => {
    if (node.kind === "text") {
      if (node.seen) text += node.text;
      else if (node.text.trim() !== "") canvas.hide();
      return;
    }
    const { name } = node;
    const frame = name === "iframe" || name === "frame";
    if (SILENT.has(name) && !frame && !LOADED.has(name)) return;
    if (isHidden(node) || (node.boxed && !node.shows)) {
      if (node.children.length > 0) canvas.hide();
      return;
    }
    if (LOADED.has(name)) return node.seen ? block(depth, `${name} (not shown)`) : undefined;
    if (frame || ((name === "a" || name === "area") && node.attributes.has("href"))) {
      return lead(node, depth);
    }
    if (isControl(node)) return control(node, depth);
    if (isButton(node)) return button(node, depth);
    if (name === "br") return flush(depth);
    if (name === "img") return image(node, depth);
    if (name === "label" && labelsAny(node)) return active(node, depth);
    if (node.inline && !/^h[1-6]$/.test(name)) return children(node, depth);
    flush(depth);
    if (name === "form") form(node, depth);
    else if (/^h[1-6]$/.test(name)) heading(node, depth);
    else if (name === "pre") preformatted(node, depth);
    else if (name === "table") table(node, depth);
    else if (name === "hr") canvas.line(depth, "separator");
    else if (name === "li" || name === "dt") item(node, depth, number);
    else if (LISTS.has(name)) children(node, depth);
    else if (LANDMARKS.has(name)) landmark(node, depth);
    else children(node, depth);
    flush(depth);
  };

  const block = (depth: number, line: string): void => {
    flush(depth);
    canvas.line(depth, line);
  };

  const lead = (element: Element, depth: number): void => {
    flush(depth);
    const { name, id, attributes } = element;
    const frame = name === "iframe" || name === "frame";
    const role = frame ? "frame" : "link";
    const called = nameOf(canvas, element);
    if (!element.seen && called === "") return;
    const place = readPlace(attributes.get(frame ? "src" : "href") ?? "about:blank", base);
    const shown = quoted(called, 300);
    if (place.kind === "other" && place.what === "javascript:") scripted(element, depth, shown);
    else if (place.kind === "other") {
      canvas.line(depth, `${role} ${shown} (${cleanText(place.what)} not followed)`);
    } else {
      const ref = canvas.ref({ kind: "link", id, url: place.url }) ?? "(no ref: too many)";
      canvas.line(depth, `${role} ${ref} ${shown} → ${place.url}`);
    }
    if (!frame) active(element, depth + 1);
  };

  const scripted = ({ id }: Element, depth: number, shown: string): void => {
    const ref = canvas.ref({ kind: "button", id }) ?? "(no ref: too many)";
    canvas.line(depth, `button ${ref} ${shown} (a script) → ${url}`);
  };

  const button = (element: Element, depth: number): void => {
    flush(depth);
    const shown = quoted(nameOf(canvas, element), 300);
    if (element.disabled) canvas.line(depth, `button (disabled) ${shown}`);
    else scripted(element, depth, shown);
    active(element, depth + 1);
  };

  const control = (element: Element, depth: number): void => {
    flush(depth);
    const own = element.name === "button" ? nameOf(canvas, element) : "";
    const { attributes } = element;
    const written = ["aria-label", "placeholder", "title", "alt"].map((each) =>
      attributes.get(each)
    );
    const label = [own, drawn.labels.get(element), ...written]
      .find((each) => each !== undefined && each.trim() !== "") ?? "";
    const line = controlLine(canvas, element, { form: owners.get(element), label, page: url });
    if (line !== undefined) canvas.line(depth, line);
  };

  const image = (element: Element, depth: number): void => {
    const alt = cleanText(element.attributes.get("alt") ?? "", canvas.unseen).trim();
    if (alt !== "") block(depth, `image ${quoted(alt, 300)}`);
  };

  const heading = (element: Element, depth: number): void => {
    const title = seenText(canvas, element);
    if (title !== "") canvas.line(depth, `heading ${element.name.slice(1)} ${quoted(title, 500)}`);
    active(element, depth + 1);
  };

  const item = (element: Element, depth: number, number: number): void => {
    canvas.mark(number > 0 ? `${number}. ` : "- ");
    children(element, depth);
    flush(depth);
    canvas.mark("");
  };

  const landmark = (element: Element, depth: number): void => {
    const label = cleanText(element.attributes.get("aria-label") ?? "").trim();
    const role = LANDMARKS.get(element.name) ?? "";
    canvas.line(depth, role + (label === "" ? "" : ` ${quoted(label)}`));
    children(element, depth + 1);
    flush(depth + 1);
  };

  const form = (element: Element, depth: number): void => {
    const first = drawn.sendings.get(element.id);
    const ref = canvas.ref({ kind: "form", id: element.id });
    const label = element.attributes.get("aria-label") ?? element.attributes.get("name") ?? "";
    const where = first === undefined ? "" : `${first.method} → ${cleanText(first.action)}`;
    canvas.line(
      depth,
      `form ${ref ?? ""} ${label === "" ? "" : `${quoted(label)} `}${where}`.trimEnd(),
    );
    children(element, depth + 1);
    flush(depth + 1);
    for (const line of sendingLines(drawn.sendings, canvas.targets, { form: element, ref })) {
      canvas.line(depth + 1, line);
    }
  };

  const preformatted = (element: Element, depth: number): void => {
    if (!isAllSeen(element)) return children(element, depth);
    for (const line of rawText(element).replace(/^\r?\n/, "").replace(/\s+$/, "").split("\n")) {
      canvas.line(depth, `| ${cleanLine(line, canvas.unseen)}`);
    }
    active(element, depth);
  };

  const table = (element: Element, depth: number): void => {
    const rows = dataRows(descendants(element), isControl);
    if (rows === undefined) return children(element, depth);
    canvas.line(depth, "table");
    for (const { cells, header } of rows) {
      if (canvas.isFull()) return;
      const texts = cells.map((cell) => seenText(canvas, cell));
      if (texts.some((each) => each !== "")) {
        const line = texts.map((each) => quoted(each, 1_000)).join(" | ");
        canvas.line(depth + 1, `${header ? "header" : "row"}: ${line}`);
      }
      for (const cell of cells) active(cell, depth + 2);
    }
  };

  /** Draws links and controls beneath an element whose text was drawn already. */
  const active = (element: Element, depth: number): void => {
    for (const node of element.children) {
      if (node.kind === "text") continue;
      const link = node.name === "a" && node.attributes.has("href");
      if (link || isControl(node) || isButton(node)) draw(node, depth);
      else if (!SILENT.has(node.name) && !isHidden(node)) active(node, depth);
    }
  };

  const labelsAny = (label: Element): boolean => {
    const id = label.attributes.get("for");
    return id === undefined ? [...descendants(label)].some((each) => named.has(each)) : ids.has(id);
  };

  children(root, 0);
  flush(0);
}

/** Whether a small element responds to clicks and contains nothing else that does. */
function isButton(element: Element): boolean {
  if (element.name === "a" && element.attributes.has("href")) return false;
  if (isAction(element)) return true;
  if (!element.clickable || element.name === "body" || element.name === "html") return false;
  if (element.name === "label" || element.name === "form") return false;
  return element.textLength <= BUTTON && !element.live;
}

function isAllSeen(element: Element): boolean {
  return element.children.every((node) =>
    node.kind === "text" ? node.seen || node.text.trim() === "" : isAllSeen(node)
  );
}
