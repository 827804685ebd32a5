/** Parses a Word document's styles and list numbering. Used by body.ts and read_docx.ts. @module */
import { type Archive, readXmlPart } from "../zip/archive.ts";

/** A style. */
export interface Style {
  /** 1 to 6 for a heading. */
  readonly level?: number;
  /** The list of its paragraphs. */
  readonly list?: { readonly id: string; readonly depth: number };
  /** Appearance of its text. */
  readonly look: Look;
}

/** Appearance of text, as far as a style or run states it. */
export interface Look {
  readonly vanish?: boolean;
  /** `RRGGBB`, or `auto`. */
  readonly colour?: string;
  /** Background, in the same format. */
  readonly ground?: string;
  /** Half points. */
  readonly size?: number;
  readonly script?: "sup" | "sub" | "line";
}

/** An appearance that states nothing. */
export const PLAIN_LOOK: Look = Object.freeze({});
/** Half points below which text is unreadable. */
const MAX_UNREADABLE = 3;

const OFF = new Set(["0", "false", "off"]);

/** The appearance that one run property states; undefined for other properties. */
export function lookOf(
  name: string,
  attribute: (name: string) => string | undefined,
): Look | undefined {
  const value = attribute("val") ?? "";
  switch (name) {
    case "vanish":
    case "specVanish":
      return { vanish: !OFF.has(value) };
    case "color":
      return { colour: value.toLowerCase() };
    case "shd":
      return { ground: (attribute("fill") ?? "auto").toLowerCase() };
    case "highlight":
      return { ground: value === "none" ? "auto" : value };
    case "sz":
      return { size: Number(value) };
    case "vertAlign":
      return { script: value === "superscript" ? "sup" : value === "subscript" ? "sub" : "line" };
    default:
      return undefined;
  }
}

/** Whether text of this appearance is invisible on white paper. */
export function isUnseen({ vanish, colour, ground = "auto", size }: Look): boolean {
  if (vanish === true || (size !== undefined && size <= MAX_UNREADABLE)) return true;
  if (colour === undefined || colour === "auto") return false;
  const behind = partsOf(ground === "auto" ? "ffffff" : ground === "white" ? "ffffff" : ground);
  const ink = partsOf(colour);
  return ink !== undefined && behind !== undefined &&
    ink.every((part, at) => Math.abs(part - (behind[at] ?? NaN)) <= 16);
}

function partsOf(colour: string): readonly number[] | undefined {
  return /^[0-9a-f]{6}$/.test(colour)
    ? [0, 2, 4].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
    : undefined;
}

interface Draft {
  name: string;
  base?: string;
  outline?: number;
  list?: string;
  depth: number;
  look: Look;
}

const MAX_STYLES = 10_000;
const MAX_BASES = 20;
const MAX_LEVEL = 6;

/** Parses the styles by id; empty if missing. */
export async function readStyles(
  archive: Archive,
  part: string | undefined,
): Promise<ReadonlyMap<string, Style>> {
  const drafts = new Map<string, Draft>();
  let draft: Draft | undefined;
  await readXmlPart(archive, part ?? "word/styles.xml", {
    open(name, attribute) {
      const value = attribute("val") ?? "";
      if (name === "style") {
        draft = { name: "", depth: 0, look: PLAIN_LOOK };
        const id = attribute("styleId");
        const known = /^(?:paragraph|character|table)$/.test(attribute("type") ?? "paragraph");
        if (id !== undefined && known && drafts.size < MAX_STYLES) drafts.set(id, draft);
      } else if (draft === undefined) return;
      else if (name === "name") draft.name = value.slice(0, 100);
      else if (name === "basedOn") draft.base = value;
      else if (name === "outlineLvl") draft.outline = Number(value);
      else if (name === "numId") draft.list = value;
      else if (name === "ilvl") draft.depth = depthOf(value);
      else draft.look = { ...draft.look, ...lookOf(name, attribute) };
    },
    close(name) {
      if (name === "style") draft = undefined;
    },
    text: () => undefined,
  });
  return new Map([...drafts.keys()].map((id) => [id, settle(id, drafts)]));
}

/** Level in a list: 0 to 8. */
export function depthOf(value: string): number {
  const depth = Number(value);
  return Number.isInteger(depth) && depth > 0 ? Math.min(depth, 8) : 0;
}

function settle(id: string, drafts: ReadonlyMap<string, Draft>): Style {
  let style: Style = { look: PLAIN_LOOK };
  let at: string | undefined = id;
  for (let i = 0; i < MAX_BASES && at !== undefined; i += 1) {
    const draft: Draft | undefined = drafts.get(at);
    if (draft === undefined) break;
    const level = levelOf(draft);
    if (style.level === undefined && level !== undefined) style = { ...style, level };
    if (style.list === undefined && draft.list !== undefined) {
      style = { ...style, list: { id: draft.list, depth: draft.depth } };
    }
    style = { ...style, look: { ...draft.look, ...style.look } };
    at = draft.base;
  }
  return style;
}

function levelOf({ name, outline }: Draft): number | undefined {
  const [, number] = /^heading ([1-9])$/i.exec(name) ?? [];
  if (number !== undefined) return Math.min(Number(number), MAX_LEVEL);
  if (/^title$/i.test(name)) return 1;
  if (outline !== undefined && outline >= 0 && outline < 9) return Math.min(outline + 1, MAX_LEVEL);
  return undefined;
}

// Numbering of lists.

/** Number formats by list and level: `bullet`, `decimal`, `none`, … */
export type Numbering = ReadonlyMap<string, ReadonlyMap<number, string>>;

const MAX_NUMBERINGS = 20_000;

/** Parses the lists by id; empty if missing. */
export async function readNumbering(
  archive: Archive,
  part: string | undefined,
): Promise<Numbering> {
  const forms = new Map<string, Map<number, string>>();
  const lists = new Map<string, string>();
  let form: Map<number, string> | undefined;
  let list: string | undefined;
  let depth = 0;
  await readXmlPart(archive, part ?? "word/numbering.xml", {
    open(name, attribute) {
      const value = attribute("val") ?? "";
      if (name === "abstractNum" && forms.size < MAX_NUMBERINGS) {
        form = new Map();
        forms.set(attribute("abstractNumId") ?? "", form);
      } else if (name === "num") list = attribute("numId");
      else if (name === "lvl") depth = depthOf(attribute("ilvl") ?? "");
      else if (name === "numFmt" && form !== undefined) form.set(depth, value);
      else if (name === "abstractNumId" && list !== undefined && lists.size < MAX_NUMBERINGS) {
        lists.set(list, value);
      }
    },
    close(name) {
      if (name === "abstractNum") form = undefined;
      if (name === "num") list = undefined;
    },
    text: () => undefined,
  });
  return new Map([...lists].map(([id, abstract]) => [id, forms.get(abstract) ?? new Map()]));
}
