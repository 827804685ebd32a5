/** Converts the elements of a Word document's body and notes to Markdown. Used by read_docx.ts. @module */
import { linearMath, type MathNode, scripted } from "../../../text/math.ts";
import type { XmlHandler } from "../xml.ts";
import { makeBlocks } from "./blocks.ts";
import {
  depthOf,
  isUnseen,
  type Look,
  lookOf,
  type Numbering,
  PLAIN_LOOK,
  type Style,
} from "./styles.ts";

/** Parts that the body refers to. */
export interface BodyParts {
  readonly styles: ReadonlyMap<string, Style>;
  readonly numbering: Numbering;
  /** Addresses by relation id. */
  readonly links: ReadonlyMap<string, string>;
}

/** A body under conversion. */
export interface Body {
  readonly handler: XmlHandler;
  /** Whether the size limit is reached. */
  readonly full: () => boolean;
  done(): {
    readonly text: string;
    /** Characters that Word does not show. */
    readonly hidden: number;
    readonly firstHeading: string;
  };
}

/** Duplicates, moved text and commands. */
const SKIPPED = new Set(["Fallback", "moveFrom", "delText", "instrText", "pPrChange", "rPrChange"]);
/** Characters of a paragraph; further text is dropped. */
const MAX_PARAGRAPH = 4_000_000;
/** Elements kept of one formula. */
const MAX_MATH = 20_000;

interface Paragraph {
  text: string;
  level: number | undefined;
  list: { readonly id: string; readonly depth: number } | undefined;
  /** From its style. */
  look: Look;
  /** Superscript or subscript text that has not ended. */
  script: { readonly where: "sup" | "sub"; text: string } | undefined;
}

interface MathElement extends MathNode {
  readonly children: (string | MathElement)[];
}

/** Makes a converter; the same handler then reads the notes. */
export function makeBody({ styles, numbering, links }: BodyParts): Body {
  const blocks = makeBlocks();
  const paragraphs: Paragraph[] = [];
  const anchors: { readonly address: string | undefined; readonly from: number }[] = [];
  let skipped = 0;
  let inProperties = 0;
  let inRun = 0;
  let inText = 0;
  let run: Look = PLAIN_LOOK;
  /** Backgrounds of the enclosing cells and tables. */
  const grounds: (string | undefined)[] = [];
  const math: MathElement[] = [];
  let mathParts = 0;
  let hidden = 0;
  let firstHeading = "";

  const put = (paragraph: Paragraph, text: string): void => {
    if (paragraph.text.length < MAX_PARAGRAPH) paragraph.text += text;
  };

  /** Ends super- or subscript; `next` is the text behind. */
  const endScript = (paragraph: Paragraph, next: string): void => {
    const { script } = paragraph;
    paragraph.script = undefined;
    if (script === undefined) return;
    const { where, text } = script;
    put(paragraph, scripted(where, text, { next }) + (/\s$/.test(text) ? " " : ""));
  };

  /** `line`: a marker with a form of its own, whatever its run looks like. */
  const add = (text: string, line = false): void => {
    const paragraph = paragraphs.at(-1);
    if (paragraph === undefined) return;
    const ground = grounds.findLast((each) => each !== undefined);
    const look = { ...(ground === undefined ? {} : { ground }), ...paragraph.look, ...run };
    if (isUnseen(look)) hidden += text.length;
    else if (!line && (look.script === "sup" || look.script === "sub")) {
      if (paragraph.script?.where !== look.script) {
        endScript(paragraph, "");
        paragraph.script = { where: look.script, text: "" };
      }
      if (paragraph.script.text.length < MAX_MATH) paragraph.script.text += text;
      else put(paragraph, text);
    } else {
      endScript(paragraph, text);
      put(paragraph, text);
    }
  };

  const style = (id: string): void => {
    const paragraph = paragraphs.at(-1);
    const known = styles.get(id);
    if (paragraph === undefined || known === undefined) return;
    paragraph.level ??= known.level;
    paragraph.list ??= known.list;
    paragraph.look = known.look;
  };

  const property = (name: string, attribute: (name: string) => string | undefined): void => {
    const paragraph = paragraphs.at(-1);
    const value = attribute("val") ?? "";
    if (paragraph === undefined) return;
    if (name === "pStyle") style(value);
    else if (name === "outlineLvl" && Number(value) < 9) {
      paragraph.level = Math.min(depthOf(value) + 1, 6);
    } else if (name === "ilvl") {
      paragraph.list = { id: paragraph.list?.id ?? "", depth: depthOf(value) };
    } else if (name === "numId") {
      paragraph.list = { id: value, depth: paragraph.list?.depth ?? 0 };
    } else if (name === "shd") {
      // The paragraph's background. Properties of the paragraph mark are nested deeper and do not apply to text.
      if (inProperties === 2) paragraph.look = { ...paragraph.look, ...lookOf(name, attribute) };
    }
  };

  const note = (attribute: (name: string) => string | undefined, kind: string): void => {
    add(` (note ${blocks.noteNumber(`${kind}${attribute("id") ?? ""}`)})`, true);
  };

  const open: XmlHandler["open"] = (name, attribute) => {
    if (skipped > 0 || SKIPPED.has(name)) {
      skipped += 1;
      return;
    }
    if (name === "oMath" || math.length > 0) {
      openMath(name, attribute);
      return;
    }
    if (inProperties > 0) {
      inProperties += 1;
      property(name, attribute);
      return;
    }
    switch (name) {
      case "p":
        paragraphs.push({
          ...{ text: "", level: undefined, list: undefined },
          ...{ look: PLAIN_LOOK, script: undefined },
        });
        return;
      case "pPr":
        inProperties = 1;
        return;
      case "r":
        inRun += 1;
        run = PLAIN_LOOK;
        return;
      case "rStyle":
        run = { ...styles.get(attribute("val") ?? "")?.look, ...run };
        return;
      case "shd":
        if (inRun > 0) run = { ...run, ...lookOf(name, attribute) };
        else if (grounds.length > 0) grounds[grounds.length - 1] = fillOf(attribute);
        return;
      case "vanish":
      case "specVanish":
      case "color":
      case "highlight":
      case "sz":
      case "vertAlign":
        if (inRun > 0) run = { ...run, ...lookOf(name, attribute) };
        return;
      case "sym":
        // A character of a symbol font, whose meaning the file does not state.
        add("\ufffd");
        return;
      case "t":
        inText += 1;
        return;
      case "tab":
        if (inRun > 0) add(" ");
        return;
      case "br":
      case "cr":
        if (inRun > 0) add("\n");
        return;
      case "noBreakHyphen":
        add("-");
        return;
      case "hyperlink":
        anchors.push({
          address: links.get(attribute("id") ?? ""),
          from: paragraphs.at(-1)?.text.length ?? 0,
        });
        return;
      case "docPr": {
        const words = (attribute("descr") ?? "").replace(/\s+/g, " ").trim().slice(0, 300);
        if (words !== "") add(`[image: ${words}]`, true);
        return;
      }
      case "footnoteReference":
        return note(attribute, "footnote");
      case "endnoteReference":
        return note(attribute, "endnote");
      case "footnote":
      case "endnote":
        return blocks.openNote(`${name}${attribute("id") ?? ""}`);
      case "tbl":
        grounds.push(undefined);
        return blocks.openTable();
      case "tr":
        return blocks.openRow();
      case "tc":
        grounds.push(undefined);
        return blocks.openCell();
      case "gridSpan":
        return blocks.span(Number(attribute("val")));
    }
  };

  const openMath = (name: string, attribute: (name: string) => string | undefined): void => {
    mathParts += 1;
    const value = attribute("val");
    const attributes = new Map(value === undefined ? [] : [["val", value]]);
    const element = { name, attributes, children: [] };
    if (mathParts <= MAX_MATH) math.at(-1)?.children.push(element);
    math.push(element);
  };

  const closeMath = (): void => {
    const done = math.pop();
    if (done === undefined || math.length > 0) return;
    add(linearMath(done));
    if (mathParts > MAX_MATH) add(" […: the formula has more parts than are read]");
    mathParts = 0;
  };

  const closeParagraph = (): void => {
    const paragraph = paragraphs.pop();
    if (paragraph === undefined) return;
    endScript(paragraph, "");
    const text = paragraph.text.replace(/[ \t\u00a0]+/g, " ").replace(/ ?\n ?/g, "\n").trim();
    if (text === "") return;
    const { level, list } = paragraph;
    if (level !== undefined) {
      const flat = text.replace(/\s+/g, " ");
      if (firstHeading === "") firstHeading = flat.slice(0, 512);
      blocks.add(`${"#".repeat(level)} ${flat}`);
    } else if (list !== undefined && list.id !== "0" && list.id !== "") {
      blocks.item(text, list, numbering.get(list.id)?.get(list.depth) ?? "bullet");
    } else blocks.add(text);
  };

  const closeLink = (): void => {
    const anchor = anchors.pop();
    const paragraph = paragraphs.at(-1);
    if (paragraph !== undefined) endScript(paragraph, "");
    if (anchor?.address === undefined || paragraph === undefined) return;
    const words = paragraph.text.slice(anchor.from).replace(/\s+/g, " ").trim();
    if (words === "") return;
    paragraph.text = `${paragraph.text.slice(0, anchor.from)}[${words}](${anchor.address})`;
  };

  const close = (name: string): void => {
    if (skipped > 0) skipped -= 1;
    else if (math.length > 0) closeMath();
    else if (inProperties > 0) inProperties -= 1;
    else if (name === "p") closeParagraph();
    else if (name === "r") {
      inRun -= 1;
      run = PLAIN_LOOK;
    } else if (name === "t") inText -= 1;
    else if (name === "hyperlink") closeLink();
    else if (name === "footnote" || name === "endnote") blocks.closeNote();
    else if (name === "tr") blocks.closeRow();
    else if (name === "tc" || name === "tbl") {
      grounds.pop();
      if (name === "tc") blocks.closeCell();
      else blocks.closeTable();
    }
  };

  const text = (said: string): void => {
    const formula = math.at(-1);
    if (skipped > 0) return;
    if (formula !== undefined) {
      if (formula.name === "t") formula.children.push(said);
    } else if (inText > 0) add(said);
  };

  return Object.freeze({
    handler: { open, close, text },
    full: blocks.full,
    done: () => ({ text: blocks.text(), hidden, firstHeading }),
  });
}

function fillOf(attribute: (name: string) => string | undefined): string | undefined {
  const fill = attribute("fill")?.toLowerCase();
  return fill === "auto" ? undefined : fill;
}
