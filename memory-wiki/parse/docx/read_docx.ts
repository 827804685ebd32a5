/**
 * Converts Word documents to Markdown: headings, lists, tables, links, notes. Fields, macros, embedded
 * objects and external parts are ignored. Used by memory-wiki/parse/service.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { DocumentReader } from "../document.ts";
import { type Archive, openArchive, readXmlPart } from "../zip/archive.ts";
import { makeBody } from "./body.ts";
import { readNumbering, readStyles } from "./styles.ts";

const MAIN = "/officeDocument";

/** Parses a DOCX. */
export const readDocx: DocumentReader = async (document, { inflate }) => {
  const archive = openArchive(document, inflate);
  const notes: string[] = [];
  const roots = await readRelations(archive, "_rels/.rels");
  const main = targetOf(roots, MAIN, "") ?? "word/document.xml";
  const folder = main.slice(0, main.lastIndexOf("/") + 1);
  const relations = await readRelations(
    archive,
    `${folder}_rels/${main.slice(folder.length)}.rels`,
  );
  const styles = await readStyles(archive, targetOf(relations, "/styles", folder));
  const numbering = await readNumbering(archive, targetOf(relations, "/numbering", folder));
  const body = makeBody({ styles, numbering, links: linksOf(relations) });
  const read = await readXmlPart(archive, main, body.handler, body.full);
  if (read === "missing") {
    throw new Fault(
      "invalidInput",
      `Cannot read ${JSON.stringify(document.name)}: it holds no Word document`,
    );
  }
  for (const type of ["/footnotes", "/endnotes"]) {
    const part = targetOf(relations, type, folder);
    if (part !== undefined) await readXmlPart(archive, part, body.handler, body.full);
  }
  const { text, hidden, firstHeading } = body.done();
  if (read === "cut") {
    notes.push("It has more, or deeper, parts than are read: its end is missing.");
  }
  if (hidden > 0) notes.push(`${hidden} characters of hidden text were left out.`);
  if (archive.dropped > 0) {
    notes.push(`${archive.dropped} entries with unsafe or repeated names were left out.`);
  }
  const outside =
    [...relations.values()].filter(({ external, type }) => external && !type.endsWith("/hyperlink"))
      .length;
  if (outside > 0) notes.push(`${outside} parts that lie outside of the file were not fetched.`);
  if (archive.names.some((name) => /vbaProject|\/embeddings\//i.test(name))) {
    notes.push("Macros and embedded files were not read.");
  }
  const title = await readTitle(archive, targetOf(roots, "/core-properties", ""));
  return { text, title: title === "" ? firstHeading : title, notes };
};

/** Addresses of web and mail links by id; others are dropped. */
function linksOf(relations: Relations): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const [id, { target, external, type }] of relations) {
    if (!external || !type.endsWith("/hyperlink") || target.length > 2_000) continue;
    if (/^(?:https?:\/\/|mailto:)[^\s<>()]+$/i.test(target)) links.set(id, target);
  }
  return links;
}

async function readTitle(
  archive: Parameters<typeof readXmlPart>[0],
  part: string | undefined,
): Promise<string> {
  let inTitle = false;
  let title = "";
  await readXmlPart(archive, part ?? "docProps/core.xml", {
    open: (name) => {
      inTitle = name === "title";
    },
    close: () => {
      inTitle = false;
    },
    text: (text) => {
      if (inTitle && title.length < 512) title += text;
    },
  });
  return title.trim();
}

/** A relation. */
interface Relation {
  readonly type: string;
  /** As written: an archive path, or an external address that is never opened. */
  readonly target: string;
  readonly external: boolean;
}

/** Relations by id. */
type Relations = ReadonlyMap<string, Relation>;

const MAX_RELATIONS = 50_000;

/** Parses a `.rels` part; empty if missing. */
async function readRelations(archive: Archive, part: string): Promise<Relations> {
  const relations = new Map<string, Relation>();
  await readXmlPart(archive, part, {
    open(name, attribute) {
      const [id, target] = [attribute("Id"), attribute("Target")];
      if (name !== "Relationship" || id === undefined || target === undefined) return;
      if (relations.has(id) || relations.size >= MAX_RELATIONS) return;
      relations.set(id, {
        type: attribute("Type") ?? "",
        target,
        external: attribute("TargetMode") === "External",
      });
    },
    close: () => undefined,
    text: () => undefined,
  });
  return relations;
}

/** Entry name of the first internal relation of a type. */
function targetOf(relations: Relations, type: string, folder: string): string | undefined {
  for (const relation of relations.values()) {
    if (relation.external || !relation.type.endsWith(type)) continue;
    const { target } = relation;
    return target.startsWith("/") ? target.slice(1) : folder + target;
  }
  return undefined;
}
