/** Turns an answer into a page. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { type Address, parseAddress, readPlace } from "./address.ts";
import { answerText, isTextType } from "./answer_text.ts";
import { type Canvas, makeCanvas } from "./canvas.ts";
import { leftOut, mediaType, partsOf, TOO_LONG } from "../../text/page_outline.ts";
import { cleanLine, cleanText, quoted } from "../../text/page_text.ts";
import type { Bases } from "./control.ts";
import { readForms } from "./form.ts";
import type { WebAnswer } from "../sdk/mod.ts";
import { drawOutline } from "./outline.ts";
import type { Page } from "./page.ts";
import { parseStyleSheet } from "./style_sheet.ts";
import { descendants, type Element, rawText, type Text } from "./tree.ts";
import { Parser } from "htmlparser2";

const NOTHING: Element = {
  kind: "element",
  name: "#page",
  attributes: new Map(),
  parent: undefined,
  children: [],
};

/** Makes a page of an answer. */
export function pageOf(answer: WebAnswer): Page {
  const address = parseAddress(answer.url);
  if (address === undefined) {
    throw new Fault("upstream", "Cannot show the page: its address does not parse");
  }
  if (answer.stopped !== undefined) return redirectPage(answer, { ...answer.stopped, address });
  const type = mediaType(answer);
  const read = answerText(answer);
  const notes = answer.cut ? ["the page is longer than what was fetched; the rest is missing"] : [];
  if (read === undefined) {
    return emptyPage(
      answer,
      `this is not text (${cleanText(type).slice(0, 80)}), so there is nothing to show`,
    );
  }
  if (read.doubt !== undefined) notes.push(read.doubt);
  const html = type === "text/html" || type === "application/xhtml+xml" ||
    (type === "" && /^\s*</.test(read.text.slice(0, 500)));
  if (html) return htmlPage(answer, { html: read.text, notes, address });
  if (type !== "" && !isTextType(type)) {
    return emptyPage(
      answer,
      `this is no page (${cleanText(type).slice(0, 80)}); browser_download saves it`,
    );
  }
  const canvas = canvasOf({ page: address, links: address }, NOTHING);
  for (const line of read.text.split("\n")) canvas.line(0, `| ${cleanLine(line, canvas.unseen)}`);
  return finished(answer, canvas, { title: "", notes: [...notes, ...notesOf(canvas)] });
}

function canvasOf(bases: Bases, root: Element): Canvas {
  const texts = [...descendants(root)].filter(({ name }) => name === "style").map(rawText);
  return makeCanvas({ bases, forms: readForms(root, bases), sheet: parseStyleSheet(texts) });
}

function htmlPage(
  answer: WebAnswer,
  { html, notes, address }: {
    readonly html: string;
    readonly notes: readonly string[];
    readonly address: Address;
  },
): Page {
  const parsed = parseHtml(html);
  const { root, cut } = parsed;
  const elements = [...descendants(root)];
  const base = elements.find(({ name, attributes }) => name === "base" && attributes.has("href"));
  const place = base === undefined
    ? undefined
    : readPlace(base.attributes.get("href") ?? "", address);
  const canvas = canvasOf(
    { page: address, links: place?.kind === "web" ? place.address : address },
    root,
  );
  const title = elements.find(({ name }) => name === "title");
  for (const element of elements) refreshLine(canvas, element);
  drawOutline(canvas, root);
  return finished(answer, canvas, {
    title: title === undefined ? "" : cleanText(rawText(title), canvas.unseen).trim().slice(0, 300),
    notes: [
      ...notes,
      ...(cut === undefined ? [] : [cut]),
      ...notesOf(canvas, { parsed, elements }),
    ],
  });
}

function refreshLine(canvas: Canvas, { name, attributes }: Element): void {
  if (name !== "meta" || attributes.get("http-equiv")?.trim().toLowerCase() !== "refresh") return;
  const to = /^\s*[0-9.]*\s*[;,]?\s*(?:url\s*=\s*)?["']?([^"']*)/i.exec(
    (attributes.get("content") ?? "").slice(0, 4_096),
  )?.[1] ?? "";
  if (to.trim() === "") return;
  const place = readPlace(to, canvas.bases.links);
  const ref = place.kind === "web" ? canvas.ref({ kind: "link", url: place.url }) : undefined;
  const where = place.kind === "web" ? place.url : `${cleanText(place.what)} (not followed)`;
  canvas.line(
    0,
    `link ${
      ref ?? ""
    } "the page wants to go on by itself (meta refresh), which is not followed" → ${where}`,
  );
}

function notesOf(
  canvas: Canvas,
  page?: { readonly parsed: Parsed; readonly elements: readonly Element[] },
): readonly string[] {
  const count = (...names: readonly string[]): number =>
    page?.elements.filter(({ name }) => names.includes(name)).length ?? 0;
  const sheets =
    page?.elements.filter(({ name, attributes }) =>
      name === "link" && /(?:^|\s)stylesheet(?:\s|$)/i.test(attributes.get("rel") ?? "")
    ).length ?? 0;
  return [
    ...(sheets === 0
      ? []
      : [`${sheets} style sheets were not loaded: what they hide may be shown`]),
    ...leftOut([
      [canvas.hidden.size, "hidden pieces that people would not see"],
      [canvas.unseen.characters, "characters that cannot be seen"],
      [page?.parsed.comments ?? 0, "comments"],
      [count("script", "noscript", "template"), "scripts"],
    ]),
    ...(canvas.sheet.isSpent()
      ? ["its style sheets are too large to tell all that they hide"]
      : []),
    ...(canvas.isFull() ? [TOO_LONG] : []),
  ];
}

function redirectPage(
  answer: WebAnswer,
  { location, why, address }: {
    readonly location: string;
    readonly why: string;
    readonly address: Address;
  },
): Page {
  const canvas = canvasOf({ page: address, links: address }, NOTHING);
  const place = readPlace(location, address);
  canvas.line(
    0,
    `text: The server sends the browser on to another place. It was not followed: ${
      cleanText(why).slice(0, 300)
    }.`,
  );
  if (place.kind === "other") {
    canvas.line(0, `text: It leads to ${cleanText(place.what)}, which is never followed.`);
  } else {canvas.line(
      0,
      `link ${
        canvas.ref({ kind: "link", url: place.url }) ?? ""
      } "the place it leads to" → ${place.url}`,
    );}
  return finished(answer, canvas, { title: "", notes: [] });
}

function emptyPage(answer: WebAnswer, note: string): Page {
  return {
    url: answer.url,
    status: answer.status,
    title: "",
    notes: [note],
    parts: [""],
    targets: new Map(),
  };
}

function finished(
  { url, status }: WebAnswer,
  { lines, targets }: Canvas,
  { title, notes }: Pick<Page, "title" | "notes">,
): Page {
  return {
    url,
    status,
    title: title === "" ? "" : quoted(title, 300),
    notes,
    parts: partsOf(lines),
    targets,
  };
}

// Parses HTML into a bounded tree.

/** A parsed page. */
interface Parsed {
  readonly root: Element;
  readonly comments: number;
  /** Why the rest of the page is missing. */
  readonly cut?: string;
}

/** Limits of one page. */
const NODES = 30_000;
/** Maximum depth of the tree; deeper elements are attached at this level. */
const DEPTH = 150;
/** Depth at which parsing stops: the parser's own work grows with depth. */
const DEEPEST = 500;
const ATTRIBUTES = 100;
/** Characters parsed between two checks of the limits. */
const STEP = 2_048;

/** Parses any page. Stops at the limits and says so. */
function parseHtml(html: string): Parsed {
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
