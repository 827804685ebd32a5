/**
 * Parses HTML into a light tree of what people would see. Any text is a page: the parser never
 * fails, and its time and memory are linear in the text, with limits on depth and number of parts.
 * @module
 */
import { QuoteType, Tokenizer } from "htmlparser2";
import {
  type Attributes,
  type Hidden,
  type HiddenNames,
  hiddenNames,
  type Ink,
  inkOf,
  inkOfPage,
  isHidden,
  nothingHidden,
  visibleText,
} from "./invisible.ts";

/** A text or an element. */
export type PageNode = string | PageElement;

/** A visible element. */
export interface PageElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: PageNode[];
  /** Characters of text in it. */
  size: number;
  readonly ink: Ink;
  /** Whether it contains a block. */
  holdsBlocks: boolean;
}

/** A page. */
export interface Page {
  readonly root: PageElement;
  readonly title: string;
  /** The address in `<base>`. */
  readonly base: string;
  readonly hidden: Hidden;
  /** Whether the page had too many parts. */
  readonly cut: boolean;
}

/** Maximum nesting; deeper elements are attached at this level. */
const DEEPEST = 100;
const MAX_PARTS = 150_000;
const MAX_ATTRIBUTE = 4_000;

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const VOID = words("area base br col embed hr img input link meta param source track wbr");
/** Never shown, whatever their contents. */
const UNSEEN = words(
  "script style template noscript iframe object embed svg canvas audio video head datalist frameset applet",
);
const KEPT_ATTRIBUTES = words(
  "href src alt title start value reversed color bgcolor colspan rowspan epub:type encoding open close separators role lang id class style hidden aria-hidden type content charset align",
);
/** Elements that begin a new line. */
export const BLOCKS = words(
  "address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul",
);
/** An opening tag ends these open elements, up to a border. */
const ENDS: Readonly<Record<string, ReadonlySet<string>>> = {
  li: words("li"),
  dt: words("dt dd"),
  dd: words("dt dd"),
  tr: words("tr td th"),
  td: words("td th"),
  th: words("td th"),
  thead: words("tr td th thead tbody tfoot"),
  tbody: words("tr td th thead tbody tfoot"),
  tfoot: words("tr td th thead tbody tfoot"),
  option: words("option"),
  optgroup: words("option optgroup"),
  body: words("head"),
};
const BORDERS = words("ul ol dl table td th html body select");

/** Parses a page. */
export function readPage(html: string): Page {
  const hidden = nothingHidden();
  const sheets = html.match(/<style[^>]{0,500}>[^<]*/gi)?.slice(0, 200) ?? [];
  const sheet = sheets.map((each) => each.replace(/^<style[^>]*>/i, "")).join("\n");
  const ink = inkOfPage(sheet, /<link\b[^>]{0,500}\bstylesheet\b/i.test(html));
  const builder = makeBuilder({ names: hiddenNames(sheet, ink.ground), ink }, hidden);
  builder.read(html);
  return builder.page();
}

function makeElement(
  name: string,
  attributes: Attributes,
  ink: Ink,
): PageElement {
  return { name, attributes, children: [], size: 0, ink, holdsBlocks: false };
}

interface Sheet {
  readonly names: HiddenNames;
  readonly ink: Ink;
}

function makeBuilder({ names, ink: inkOfAll }: Sheet, hidden: Hidden) {
  const root = makeElement("#root", new Map(), inkOfAll);
  /** The ink that `<html>` and `<body>` give to everything in them. */
  let inkOfBody = inkOfAll;
  const open: PageElement[] = [root];
  /** Names of open elements that are too deep or hidden: they only need to be closed. */
  const unseen: string[] = [];
  let deeper = 0;
  let parts = 0;
  let title = "";
  let inTitle = false;
  let base = "";
  let cut = false;

  const top = (): PageElement => open[open.length - 1] ?? root;

  const close = (): void => {
    const done = open.pop();
    if (done === undefined || open.length === 0) {
      if (open.length === 0) open.push(root);
      return;
    }
    top().size += done.size;
  };

  const text = (raw: string): void => {
    if (inTitle) {
      if (title.length < 1_000) title += raw;
      return;
    }
    if (unseen.length > 0) {
      if (!UNSEEN.has(unseen[0] ?? "")) hidden.characters += raw.trim().length;
      return;
    }
    if ((open.length === 1 ? inkOfBody : top().ink).unseen) {
      hidden.characters += raw.trim().length;
      return;
    }
    const plain = visibleText(raw, hidden);
    if (plain === "" || cut) return;
    const { children } = top();
    const last = children[children.length - 1];
    if (typeof last === "string" && last.length < 100_000) {
      children[children.length - 1] = last + plain;
    } else {
      children.push(plain);
      count();
    }
    top().size += plain.length;
  };

  const count = (): void => {
    parts += 1;
    if (parts > MAX_PARTS) cut = true;
  };

  /** Ends open elements with these names, down to a border. */
  const end = (ended: ReadonlySet<string>): void => {
    for (let at = open.length - 1; at > 0; at -= 1) {
      const name = open[at]?.name ?? "";
      if (ended.has(name)) {
        while (open.length > at) close();
      } else if (BORDERS.has(name)) return;
    }
  };

  const opened = (name: string, attributes: Attributes, selfClosing: boolean): void => {
    if (name === "title" && title === "") inTitle = true;
    if (name === "base" && base === "") base = attributes.get("href") ?? "";
    const isVoid = VOID.has(name) || (selfClosing && (name === "svg" || name === "math"));
    if (unseen.length > 0) {
      // `<head>` often has no end tag: a body, or one of its elements, ends it.
      if (unseen[0] === "head" && (name === "body" || BLOCKS.has(name))) unseen.length = 0;
      else {
        if (!isVoid && unseen.length < 100_000) unseen.push(name);
        return;
      }
    }
    const outer = open.length === 1 ? inkOfBody : top().ink;
    const ink = inkOf(attributes, outer);
    if (name === "html" || name === "body") inkOfBody = ink;
    if (ink.unseen && !outer.unseen) hidden.elements += 1;
    if (UNSEEN.has(name) || isHidden(attributes, names)) {
      if (!UNSEEN.has(name)) hidden.elements += 1;
      if (!isVoid) unseen.push(name);
      return;
    }
    if (name === "html" || cut) return;
    if (BLOCKS.has(name)) end(PARAGRAPH);
    const ended = ENDS[name];
    if (ended !== undefined) end(ended);
    const element = makeElement(name, attributes, ink);
    if (BLOCKS.has(name)) { for (const outer of open) outer.holdsBlocks = true; }
    count();
    top().children.push(element);
    if (isVoid) return;
    if (open.length >= DEEPEST) deeper += 1;
    else open.push(element);
  };

  const closed = (name: string): void => {
    if (name === "title") inTitle = false;
    if (unseen.length > 0) {
      // Looks back only a little: a hostile page has 100,000 open elements.
      const earliest = Math.max(0, unseen.length - 500);
      for (let at = unseen.length - 1; at >= earliest; at -= 1) {
        if (unseen[at] !== name) continue;
        unseen.length = at;
        return;
      }
      return;
    }
    if (deeper > 0) {
      deeper -= 1;
      return;
    }
    for (let at = open.length - 1; at > 0; at -= 1) {
      const known = open[at]?.name;
      if (known === name) {
        while (open.length > at) close();
        return;
      }
      if (name !== "table" && (known === "td" || known === "th" || known === "table")) return;
    }
  };

  const read = (html: string): void => {
    let name = "";
    let attributes = new Map<string, string>();
    let attribute = "";
    let value = "";
    const ready = (selfClosing: boolean): void => {
      opened(name, attributes, selfClosing);
      attributes = new Map();
    };
    const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, {
      onopentagname: (from, to) => {
        name = html.slice(from, Math.min(to, from + 60)).toLowerCase();
      },
      onattribname: (from, to) => {
        attribute = to - from > 40 ? "" : html.slice(from, to).toLowerCase();
        value = "";
      },
      onattribdata: (from, to) => {
        if (value.length < MAX_ATTRIBUTE) {
          value += html.slice(from, Math.min(to, from + MAX_ATTRIBUTE + 7_000));
        }
      },
      onattribentity: (point) => {
        if (value.length < MAX_ATTRIBUTE) value += String.fromCodePoint(point);
      },
      onattribend: (quote) => {
        const given = quote === QuoteType.NoValue ? "" : value;
        if (KEPT_ATTRIBUTES.has(attribute) && !attributes.has(attribute)) {
          attributes.set(attribute, given);
        }
      },
      onopentagend: () => ready(false),
      onselfclosingtag: () => ready(true),
      onclosetag: (from, to) =>
        closed(html.slice(from, Math.min(to, from + 60)).toLowerCase().trim()),
      ontext: (from, to) => text(html.slice(from, to)),
      ontextentity: (point) => text(String.fromCodePoint(point)),
      oncomment: () => {
        hidden.comments += 1;
      },
      oncdata: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    });
    tokenizer.write(html);
    tokenizer.end();
    while (open.length > 1) close();
  };

  const page = (): Page => ({
    root,
    title: visibleText(title.replace(/\s+/g, " ").trim(), hidden),
    base,
    hidden,
    cut,
  });

  return Object.freeze({ read, page });
}

const PARAGRAPH = words("p");
