/** The elements of a Word document's body and of its notes as Markdown. @module */
import type { XmlHandler } from "../xml.ts";
import { makeBlocks } from "./blocks.ts";
import type { Numbering } from "./numbering.ts";
import { depthOf, type Style } from "./styles.ts";

/** What a body's elements refer to. */
export interface BodyParts {
  readonly styles: ReadonlyMap<string, Style>;
  readonly numbering: Numbering;
  /** Addresses by the id of their reference. */
  readonly links: ReadonlyMap<string, string>;
}

/** A body that is being read. */
export interface Body {
  readonly handler: XmlHandler;
  /** Whether enough was read. */
  readonly full: () => boolean;
  done(): {
    readonly text: string;
    /** Characters that Word does not show. */
    readonly hidden: number;
    readonly firstHeading: string;
  };
}

/** What stands twice, was moved away, or is a command and no text. */
const SKIPPED = new Set(["Fallback", "moveFrom", "delText", "instrText", "pPrChange", "rPrChange"]);
/** Characters after which nothing is added to a paragraph. */
const MOST_PARAGRAPH = 4_000_000;
const OFF = new Set(["0", "false", "off"]);

interface Paragraph {
  text: string;
  level: number | undefined;
  list: { readonly id: string; readonly depth: number } | undefined;
}

/** Makes a body; its notes are read by the same handler afterwards. */
export function makeBody({ styles, numbering, links }: BodyParts): Body {
  const blocks = makeBlocks();
  const paragraphs: Paragraph[] = [];
  const anchors: { readonly address: string | undefined; readonly from: number }[] = [];
  let skipped = 0;
  let inProperties = 0;
  let inRun = 0;
  let inText = 0;
  let vanished = false;
  let hidden = 0;
  let firstHeading = "";

  const add = (text: string): void => {
    const paragraph = paragraphs.at(-1);
    if (paragraph === undefined) return;
    if (vanished) hidden += text.length;
    else if (paragraph.text.length < MOST_PARAGRAPH) paragraph.text += text;
  };

  const style = (id: string): void => {
    const paragraph = paragraphs.at(-1);
    const known = styles.get(id);
    if (paragraph === undefined || known === undefined) return;
    paragraph.level ??= known.level;
    paragraph.list ??= known.list;
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
    }
  };

  const note = (attribute: (name: string) => string | undefined, kind: string): void => {
    add(` (note ${blocks.noteNumber(`${kind}${attribute("id") ?? ""}`)})`);
  };

  const open: XmlHandler["open"] = (name, attribute) => {
    if (skipped > 0 || SKIPPED.has(name)) {
      skipped += 1;
      return;
    }
    if (inProperties > 0) {
      inProperties += 1;
      property(name, attribute);
      return;
    }
    switch (name) {
      case "p":
        paragraphs.push({ text: "", level: undefined, list: undefined });
        return;
      case "pPr":
        inProperties = 1;
        return;
      case "r":
        inRun += 1;
        vanished = false;
        return;
      case "vanish":
      case "specVanish":
        vanished = !OFF.has(attribute("val") ?? "");
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
        if (words !== "") add(`[image: ${words}]`);
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
        return blocks.openTable();
      case "tr":
        return blocks.openRow();
      case "tc":
        return blocks.openCell();
      case "gridSpan":
        return blocks.span(Number(attribute("val")));
    }
  };

  const closeParagraph = (): void => {
    const paragraph = paragraphs.pop();
    if (paragraph === undefined) return;
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
    if (anchor?.address === undefined || paragraph === undefined) return;
    const words = paragraph.text.slice(anchor.from).replace(/\s+/g, " ").trim();
    if (words === "") return;
    paragraph.text = `${paragraph.text.slice(0, anchor.from)}[${words}](${anchor.address})`;
  };

  const close = (name: string): void => {
    if (skipped > 0) skipped -= 1;
    else if (inProperties > 0) inProperties -= 1;
    else if (name === "p") closeParagraph();
    else if (name === "r") {
      inRun -= 1;
      vanished = false;
    } else if (name === "t") inText -= 1;
    else if (name === "hyperlink") closeLink();
    else if (name === "footnote" || name === "endnote") blocks.closeNote();
    else if (name === "tc") blocks.closeCell();
    else if (name === "tr") blocks.closeRow();
    else if (name === "tbl") blocks.closeTable();
  };

  const text = (said: string): void => {
    if (skipped === 0 && inText > 0) add(said);
  };

  return Object.freeze({
    handler: { open, close, text },
    full: blocks.full,
    done: () => ({ text: blocks.text(), hidden, firstHeading }),
  });
}
