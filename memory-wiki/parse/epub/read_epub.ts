/**
 * Converts books to Markdown, chapters in the order of the spine. Scripts, images and fonts are ignored, and
 * nothing is fetched. Used by memory-wiki/parse/service.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { charsetOf, decodeText } from "../decode_text.ts";
import type { DocumentReader, ReadParts } from "../document.ts";
import { type Archive, openArchive, readEntry, readXmlPart } from "../zip/archive.ts";

/** Bytes of one chapter; longer ones are cut. */
const MAX_CHAPTER = 8 * 1024 * 1024;
const MAX_TEXT = 24_000_000;
/** Bytes of all style sheets of a chapter. */
const MAX_SHEETS = 400_000;
const LINK = /<link\b[^<>]{0,2000}>/gi;
const MAX_TIME = 45_000;
/** Font obfuscation; any other encryption makes the book unreadable. */
const FONTS = new Set([
  "http://www.idpf.org/2008/embedding",
  "http://ns.adobe.com/pdf/enc#RC",
]);

/** Parses an EPUB. */
export const readEpub: DocumentReader = async (document, parts) => {
  const archive = openArchive(document, parts.inflate);
  const bad = (why: string): Fault =>
    new Fault("invalidInput", `Cannot read ${JSON.stringify(document.name)}: ${why}`);
  if (await isEncrypted(archive)) throw bad("it is encrypted");
  const root = await rootFile(archive);
  if (root === undefined) throw bad("it is no EPUB: META-INF/container.xml names no book");
  const book = await readPackage(archive, root);
  if (book === undefined) throw bad("its list of chapters is missing");
  const read = await readChapters(archive, book, parts);
  const notes = [
    ...read.notes,
    ...(archive.dropped > 0
      ? [`${archive.dropped} entries with unsafe or repeated names were left out.`]
      : []),
  ];
  const author = book.authors.length === 0 ? [] : [`By ${book.authors.join(", ")}`];
  const head = book.title === "" ? author : [`# ${book.title}`, ...author];
  return { text: [...head, ...read.chapters].join("\n\n"), title: book.title, notes };
};

async function readChapters(
  archive: Archive,
  { chapters }: Package,
  { html, now }: ReadParts,
): Promise<{ readonly chapters: readonly string[]; readonly notes: readonly string[] }> {
  const texts: string[] = [];
  const notes = new Set<string>();
  const sheets = new Map<string, string>();
  const last = now() + MAX_TIME;
  let missing = 0;
  let cut = 0;
  let size = 0;
  for (const [at, name] of chapters.entries()) {
    if (now() > last || size > MAX_TEXT) {
      notes.add(`Only its first ${at} of ${chapters.length} chapters were read.`);
      break;
    }
    const entry = await readEntry(archive, name, MAX_CHAPTER);
    if (entry === undefined) {
      missing += 1;
      continue;
    }
    const { text } = decodeText(entry.bytes, name, charsetOf(entry.bytes));
    const styled = await withSheets(text, name, (sheet) => sheetOf(archive, sheet, sheets));
    const page = html(asHtml(styled), { whole: true });
    if (!entry.whole || page.cut) cut += 1;
    for (const note of page.notes) notes.add(note);
    if (page.text === "") continue;
    texts.push(page.text);
    size += page.text.length;
  }
  if (missing > 0) notes.add(`${missing} chapters are missing, encrypted or damaged.`);
  if (cut > 0) notes.add(`${cut} chapters are longer than is read.`);
  return { chapters: texts, notes: [...notes] };
}

/** A chapter with its style sheets inlined, since they determine what is hidden. */
async function withSheets(
  xhtml: string,
  chapter: string,
  sheetOf: (name: string) => Promise<string>,
): Promise<string> {
  const sheets: string[] = [];
  let size = 0;
  for (const [link] of xhtml.matchAll(LINK)) {
    const href = /\bhref\s*=\s*["']([^"']{1,2000})["']/i.exec(link)?.[1];
    const name = /stylesheet/i.test(link) && href !== undefined
      ? entryName(href, chapter)
      : undefined;
    const sheet = name === undefined || size > MAX_SHEETS ? "" : await sheetOf(name);
    size += sheet.length;
    sheets.push(sheet);
  }
  const css = sheets.join("\n").slice(0, MAX_SHEETS).replaceAll("<", "");
  return css === "" ? xhtml : `<style>${css}</style>${xhtml.replace(LINK, "")}`;
}

async function sheetOf(
  archive: Archive,
  name: string,
  known: Map<string, string>,
): Promise<string> {
  const kept = known.get(name);
  if (kept !== undefined) return kept;
  const entry = await readEntry(archive, name, MAX_SHEETS);
  const sheet = entry === undefined ? "" : new TextDecoder().decode(entry.bytes);
  known.set(name, sheet);
  return sheet;
}

async function rootFile(archive: Archive): Promise<string | undefined> {
  let root: string | undefined;
  await readXmlPart(archive, "META-INF/container.xml", {
    open(name, attribute) {
      if (name === "rootfile") root ??= attribute("full-path");
    },
    close: () => undefined,
    text: () => undefined,
  });
  return root;
}

async function isEncrypted(archive: Archive): Promise<boolean> {
  let encrypted = false;
  await readXmlPart(archive, "META-INF/encryption.xml", {
    open(name, attribute) {
      if (name === "EncryptionMethod" && !FONTS.has(attribute("Algorithm") ?? "")) encrypted = true;
    },
    close: () => undefined,
    text: () => undefined,
  });
  return encrypted;
}

// XHTML as HTML: HTML would leave a self-closed element open.

const EMPTY = /<([a-z][\w:-]{0,40})((?:\s[^<>]{0,4000})?)\/>/gi;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/i;

/** Writes `<x/>` as `<x></x>`, except for void elements. */
function asHtml(xhtml: string): string {
  return xhtml.replace(
    EMPTY,
    (tag, name: string, rest: string) => VOID.test(name) ? tag : `<${name}${rest}></${name}>`,
  );
}

/** A parsed package document. */
interface Package {
  readonly title: string;
  readonly authors: readonly string[];
  /** Entry names in reading order. */
  readonly chapters: readonly string[];
}

const MAX_ITEMS = 20_000;
const MAX_AUTHORS = 20;
const PAGES = new Set(["application/xhtml+xml", "text/html", "application/x-dtbook+xml"]);

/** Parses the package document; undefined if it is missing or lists no chapter. */
async function readPackage(archive: Archive, root: string): Promise<Package | undefined> {
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
      } else if (name === "item" && items.size < MAX_ITEMS) {
        const [id, href, type] = [attribute("id"), attribute("href"), attribute("media-type")];
        if (id !== undefined && href !== undefined && PAGES.has(type ?? "")) items.set(id, href);
      } else if (name === "itemref" && spine.length < MAX_ITEMS) {
        spine.push(attribute("idref") ?? "");
      }
    },
    close(name) {
      if (name !== collecting) return;
      const said = words.replace(/\s+/g, " ").trim();
      if (name === "title" && title === "") title = said;
      else if (name === "creator" && said !== "" && authors.length < MAX_AUTHORS) {
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

/** Resolves a link to an entry name; undefined for a link out of the archive. */
export function entryName(href: string, from: string): string | undefined {
  const [path = ""] = href.split("#", 1);
  if (path === "" || path.length > 1_024 || path.startsWith("/")) return undefined;
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  const segments = from.split("/").slice(0, -1);
  for (const segment of decoded(path).split("/")) {
    if (segment === "..") {
      if (segments.pop() === undefined) return undefined;
    } else if (segment !== "." && segment !== "") segments.push(segment);
  }
  return segments.join("/");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
