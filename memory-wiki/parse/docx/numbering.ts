/** Which lists of a Word document have numbers. @module */
import type { Archive } from "../zip/archive.ts";
import { readXmlPart } from "../zip/read_xml.ts";
import { depthOf } from "./styles.ts";

/** By list, the forms of its levels: `bullet`, `decimal`, `none`, … */
export type Numbering = ReadonlyMap<string, ReadonlyMap<number, string>>;

const MOST = 20_000;

/** Reads the lists by id; empty when there are none. */
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
      if (name === "abstractNum" && forms.size < MOST) {
        form = new Map();
        forms.set(attribute("abstractNumId") ?? "", form);
      } else if (name === "num") list = attribute("numId");
      else if (name === "lvl") depth = depthOf(attribute("ilvl") ?? "");
      else if (name === "numFmt" && form !== undefined) form.set(depth, value);
      else if (name === "abstractNumId" && list !== undefined && lists.size < MOST) {
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
