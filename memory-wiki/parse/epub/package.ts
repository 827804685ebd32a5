/** A book's package: its title, its authors, and its chapters in order. @module */
import type { Archive } from "../zip/archive.ts";
import { readXmlPart } from "../zip/read_xml.ts";
import { entryName } from "./entry_name.ts";

/** What a package says. */
export interface Package {
  readonly title: string;
  readonly authors: readonly string[];
  /** Names of entries, in reading order. */
  readonly chapters: readonly string[];
}

const MOST_ITEMS = 20_000;
const MOST_AUTHORS = 20;
const PAGES = new Set(["application/xhtml+xml", "text/html", "application/x-dtbook+xml"]);

/** Reads the package; undefined when it is missing or names no chapter. */
export async function readPackage(archive: Archive, root: string): Promise<Package | undefined> {
  const items = new Map<string, string>();
  const spine: string[] = [];
  const authors: string[] = [];
  let title = "";
  let collecting: "title" | "creator" | undefined;
  let words = "";
  await readXmlPart(archive, root, {
    open(name, attribute) {
      if (name === "title" || name === "creator") {
        collecting = name;
        words = "";
      } else if (name === "item" && items.size < MOST_ITEMS) {
        const [id, href, type] = [attribute("id"), attribute("href"), attribute("media-type")];
        if (id !== undefined && href !== undefined && PAGES.has(type ?? "")) items.set(id, href);
      } else if (name === "itemref" && spine.length < MOST_ITEMS) {
        spine.push(attribute("idref") ?? "");
      }
    },
    close(name) {
      if (name !== collecting) return;
      const said = words.replace(/\s+/g, " ").trim();
      if (name === "title" && title === "") title = said;
      else if (name === "creator" && said !== "" && authors.length < MOST_AUTHORS) {
        authors.push(said);
      }
      collecting = undefined;
    },
    text(text) {
      if (collecting !== undefined && words.length < 512) words += text.slice(0, 512);
    },
  });
  const chapters = [...new Set(spine)].flatMap((id) => {
    const href = items.get(id);
    const name = href === undefined ? undefined : entryName(href, root);
    return name === undefined ? [] : [name];
  });
  return chapters.length === 0 ? undefined : { title, authors, chapters };
}
