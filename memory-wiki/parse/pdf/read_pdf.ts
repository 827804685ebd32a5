/**
 * Converts PDF to text: lines in reading order, a heading per page. Nothing is executed: scripts, actions,
 * embedded files and forms are ignored. Used by memory-wiki/parse/service.ts.
 * @module
 */
import "./globals_powers.ts";
import { getDocument, PasswordException } from "unpdf/pdfjs";
import { Fault } from "../../../contracts/base/fault.ts";
import type { DocumentReader, ReadParts } from "../document.ts";
import { linesOf, type PageLine, type TextItem } from "./lines.ts";
import { seenText } from "./seen_text.ts";

/** Pages read; a file may claim any number. */
const MAX_PAGES = 10_000;
/** Milliseconds after which no further page is started, below the deadline of the process. */
const MAX_TIME = 45_000;
/** Pieces of text per page. */
const MAX_ITEMS = 200_000;
/** Characters of all pages. */
const MAX_TEXT = 24_000_000;
/** Consecutive unreadable pages after which the rest is skipped. */
const MAX_BROKEN = 50;

/** The library's value for drawing neither comments nor fields. */
const NO_ANNOTATIONS = 0;

/** Executes, draws and fetches nothing, and starts no thread. */
const OPTIONS = {
  verbosity: 0,
  stopAtErrors: false,
  disableFontFace: true,
  useSystemFonts: false,
  useWorkerFetch: false,
  useWasm: false,
  isOffscreenCanvasSupported: false,
  isImageDecoderSupported: false,
  disableRange: true,
  disableStream: true,
  disableAutoFetch: true,
  enableXfa: false,
  // Larger images are not decoded; smaller ones tell what they cover.
  maxImageSize: 65_536,
  // Includes the fonts' own character tables.
  fontExtraProperties: true,
} as const;

type Pdf = Awaited<ReturnType<typeof getDocument>["promise"]>;

/** Parses a PDF. */
export const readPdf: DocumentReader = async ({ name, bytes }, parts) => {
  const pdf = await open(name, bytes);
  const notes: string[] = [];
  const { pages, end } = await readPages(pdf, parts);
  const { text, cut } = writePages(pages, MAX_TEXT);
  if (end !== undefined) notes.push(end);
  if (cut) notes.push("It has more text than is read.");
  const broken = pages.filter((page) => page.lines === undefined).length;
  if (broken > 0) notes.push(`${broken} of its pages are damaged and could not be read.`);
  const hidden = pages.reduce((sum, page) => sum + page.hidden, 0);
  if (hidden > 0) {
    notes.push(
      `${hidden} characters of text that nobody sees were left out (a scan's recognised text is such text).`,
    );
  }
  const unsure = pages.filter((page) => page.unsure).length;
  if (unsure > 0) notes.push(`Of ${unsure} of its pages it is not known whether all text is seen.`);
  const notesOfPages = pages.reduce((sum, page) => sum + page.annotations, 0);
  if (notesOfPages > 0) {
    notes.push(`${notesOfPages} comments and filled-in fields on its pages were not read.`);
  }
  const empty = pages.filter((page) => page.lines?.length === 0).length;
  if (empty > 0) notes.push(`${empty} of its pages hold no text: pictures are not read.`);
  return { text, title: await titleOf(pdf), notes };
};

async function open(name: string, bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocument({ ...OPTIONS, data: bytes }).promise;
  } catch (error) {
    if (error instanceof PasswordException) {
      throw new Fault(
        "invalidInput",
        `Cannot read ${JSON.stringify(name)}: it is encrypted with a password`,
      );
    }
    throw error;
  }
}

/** A page; a damaged one has no lines. */
export interface PdfPage {
  readonly number: number;
  readonly lines: readonly PageLine[] | undefined;
  /** Invisible characters. */
  readonly hidden: number;
  /** Whether visibility could not be determined. */
  readonly unsure: boolean;
  readonly annotations: number;
}

async function readPages(
  pdf: Pdf,
  { now }: ReadParts,
): Promise<{ readonly pages: readonly PdfPage[]; readonly end: string | undefined }> {
  const pages: PdfPage[] = [];
  const last = now() + MAX_TIME;
  let broken = 0;
  let size = 0;
  const layers = await pdf.getOptionalContentConfig().catch(() => undefined);
  const only = (why: string): string => `Only its first ${pages.length} pages were read: ${why}.`;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    if (number > MAX_PAGES) return { pages, end: only("it says that it has more than 10,000") };
    if (now() > last) return { pages, end: only("the rest would take too long") };
    if (size > MAX_TEXT) return { pages, end: only("they hold more text than is read") };
    const page = await readPage(pdf, number, layers);
    const { lines } = page;
    broken = lines === undefined ? broken + 1 : 0;
    if (broken > MAX_BROKEN) {
      return { pages: pages.slice(0, 1 - broken), end: only("those behind are damaged") };
    }
    for (const line of lines ?? []) size += line.text.length;
    pages.push(page);
  }
  return { pages, end: undefined };
}

type Layers = Awaited<ReturnType<Pdf["getOptionalContentConfig"]>> | undefined;
type Page = Awaited<ReturnType<Pdf["getPage"]>>;

async function readPage(pdf: Pdf, number: number, layers: Layers): Promise<PdfPage> {
  const nothing = { number, hidden: 0, unsure: false, annotations: 0 };
  try {
    const page = await pdf.getPage(number);
    const items = await itemsOf(page);
    const seen = items.length === 0 ? undefined : await seenOf(page, layers);
    const annotations = await annotationsOf(page);
    page.cleanup();
    // If everything is visible, the library's own text is better: it handles scripts and directions.
    const changed = seen !== undefined && (seen.hidden > 0 || seen.named > 0);
    return {
      ...{ ...nothing, annotations, hidden: seen?.hidden ?? 0 },
      lines: linesOf(changed ? seen.items : items),
      unsure: seen === undefined && items.length > 0,
    };
  } catch {
    // A damaged page: the text names it, and the notes count them.
    return { ...nothing, lines: undefined };
  }
}

async function itemsOf(page: Page): Promise<readonly TextItem[]> {
  const items: TextItem[] = [];
  const reader = page.streamTextContent().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return items;
    for (const item of value.items) if ("str" in item) items.push(item);
    if (items.length > MAX_ITEMS) {
      await reader.cancel(new Error("enough"));
      return items;
    }
  }
}

async function seenOf(
  page: Page,
  layers: Layers,
): Promise<ReturnType<typeof seenText> | undefined> {
  try {
    const drawing = await page.getOperatorList({ annotationMode: NO_ANNOTATIONS });
    return seenText(drawing, {
      view: page.view,
      isLayerSeen: (group) => layers === undefined || layers.isVisible(group),
      font: (name) => page.commonObjs.has(name) ? page.commonObjs.get(name) : undefined,
      image: (name) => page.objs.has(name) ? page.objs.get(name) : undefined,
    });
  } catch {
    // The text is read all the same, and a note says that visibility is unknown.
    return undefined;
  }
}

/** Counts comments, stamps and filled-in fields. */
async function annotationsOf(page: Page): Promise<number> {
  try {
    const all = await page.getAnnotations();
    return all.filter(({ subtype, contentsObj, fieldValue }) =>
      subtype === "Widget"
        ? typeof fieldValue === "string" && fieldValue !== ""
        : subtype !== "Link" && subtype !== "Popup" && contentsObj?.str
    ).length;
  } catch {
    return 0;
  }
}

async function titleOf(pdf: Pdf): Promise<string> {
  try {
    const { info } = await pdf.getMetadata();
    return "Title" in info && typeof info.Title === "string" ? info.Title : "";
  } catch {
    // The rest of a damaged file may still be readable.
    return "";
  }
}

// Writes pages as text: a heading per page, separated paragraphs, hyphenated words joined.

/** Ratio to the body's font size from which a line is a heading. */
const HEADING_RATIO = 1.2;
const MAX_HEADING = 160;

/** Writes at most `max` characters, and returns whether there were more. */
function writePages(
  pages: readonly PdfPage[],
  max: number,
): { readonly text: string; readonly cut: boolean } {
  const body = sizeOfText(pages);
  const out: string[] = [];
  let size = 0;
  for (const { number, lines } of pages) {
    if (size > max) return { text: out.join("\n"), cut: true };
    if (out.length > 0 && out.at(-1) !== "") out.push("");
    out.push(`## Page ${number}`, "");
    size += 16;
    let inHeading = false;
    let first = true;
    for (const line of lines ?? []) {
      const heading = line.size > body * HEADING_RATIO && line.text.length <= MAX_HEADING &&
        /\p{L}/u.test(line.text);
      if (!first && (line.apart || heading || inHeading) && out.at(-1) !== "") out.push("");
      const text = heading ? `### ${line.text}` : line.text;
      const before = out.at(-1) ?? "";
      if (!heading && !line.apart && !first && isBroken(before, line.text)) join(out, line.text);
      else out.push(text);
      size += text.length + 1;
      inHeading = heading;
      first = false;
    }
  }
  return { text: out.join("\n"), cut: false };
}

/** The font size of most characters. */
function sizeOfText(pages: readonly PdfPage[]): number {
  const counts = new Map<number, number>();
  for (const { lines } of pages) {
    for (const { size, text } of lines ?? []) {
      const rounded = Math.round(size * 2) / 2;
      counts.set(rounded, (counts.get(rounded) ?? 0) + text.length);
    }
  }
  let [best, max] = [Infinity, 0];
  for (const [size, count] of counts) if (count > max) [best, max] = [size, count];
  return best;
}

/** A hyphenated word: lower case on both sides of the line break. */
function isBroken(before: string, line: string): boolean {
  return /\p{Ll}-$/u.test(before) && /^\p{Ll}/u.test(line);
}

function join(out: string[], line: string): void {
  const [word = ""] = line.split(" ", 1);
  out.push(`${(out.pop() ?? "").slice(0, -1)}${word}`);
  const rest = line.slice(word.length).trimStart();
  if (rest !== "") out.push(rest);
}
