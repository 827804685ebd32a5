/** Which styles of a Word document are headings, and of which level. @module */
import type { Archive } from "../zip/archive.ts";
import { readXmlPart } from "../zip/read_xml.ts";

/** What a style says of its paragraphs. */
export interface Style {
  /** 1 to 6 for a heading. */
  readonly level?: number;
  /** The list that its paragraphs belong to. */
  readonly list?: { readonly id: string; readonly depth: number };
}

interface Draft {
  name: string;
  base?: string;
  outline?: number;
  list?: string;
  depth: number;
}

const MOST = 10_000;
const MOST_BASES = 20;
const DEEPEST = 6;

/** Reads the styles by id; empty when there are none. */
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
        draft = { name: "", depth: 0 };
        const id = attribute("styleId");
        const paragraph = (attribute("type") ?? "paragraph") === "paragraph";
        if (id !== undefined && paragraph && drafts.size < MOST) drafts.set(id, draft);
      } else if (draft === undefined) return;
      else if (name === "name") draft.name = value.slice(0, 100);
      else if (name === "basedOn") draft.base = value;
      else if (name === "outlineLvl") draft.outline = Number(value);
      else if (name === "numId") draft.list = value;
      else if (name === "ilvl") draft.depth = depthOf(value);
    },
    close(name) {
      if (name === "style") draft = undefined;
    },
    text: () => undefined,
  });
  return new Map([...drafts.keys()].map((id) => [id, settle(id, drafts)]));
}

/** A place in a list: 0 to 8. */
export function depthOf(value: string): number {
  const depth = Number(value);
  return Number.isInteger(depth) && depth > 0 ? Math.min(depth, 8) : 0;
}

function settle(id: string, drafts: ReadonlyMap<string, Draft>): Style {
  let style: Style = {};
  let at: string | undefined = id;
  for (let i = 0; i < MOST_BASES && at !== undefined; i += 1) {
    const draft: Draft | undefined = drafts.get(at);
    if (draft === undefined) break;
    const level = levelOf(draft);
    if (style.level === undefined && level !== undefined) style = { ...style, level };
    if (style.list === undefined && draft.list !== undefined) {
      style = { ...style, list: { id: draft.list, depth: draft.depth } };
    }
    at = draft.base;
  }
  return style;
}

function levelOf({ name, outline }: Draft): number | undefined {
  const [, number] = /^heading ([1-9])$/i.exec(name) ?? [];
  if (number !== undefined) return Math.min(Number(number), DEEPEST);
  if (/^title$/i.test(name)) return 1;
  if (outline !== undefined && outline >= 0 && outline < 9) return Math.min(outline + 1, DEEPEST);
  return undefined;
}
