/**
 * PDF as text: lines in reading order, a heading for each page. Nothing of it runs: scripts and
 * actions, launch, submit, embedded files and forms are read by nobody.
 * @module
 */
import "./globals_powers.ts";
import { getDocument, PasswordException } from "unpdf/pdfjs";
import { Fault } from "../../../contracts/fault.ts";
import type { DocumentReader, ReadParts } from "../document.ts";
import { linesOf, type PageLine, type TextItem } from "./lines.ts";
import { writePages } from "./write_pages.ts";

/** Pages that are looked at: what a file says it has may be anything. */
const MOST_PAGES = 10_000;
/** Milliseconds after which no more pages are begun: below the deadline of the process. */
const MOST_TIME = 45_000;
/** Pieces of text of one page. */
const MOST_ITEMS = 200_000;
/** Characters of all pages. */
const MOST_TEXT = 24_000_000;
/** Pages in a row that cannot be read, after which the rest is given up. */
const MOST_BROKEN = 50;

/** Nothing is run, drawn, fetched or handed to a thread. */
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
  // Pictures of more pixels are not decoded.
  maxImageSize: 1,
} as const;

type Pdf = Awaited<ReturnType<typeof getDocument>["promise"]>;

/** Reads a PDF. */
export const readPdf: DocumentReader = async ({ name, bytes }, parts) => {
  const pdf = await open(name, bytes);
  const notes: string[] = [];
  const { pages, end } = await readPages(pdf, parts);
  const { text, cut } = writePages(pages, MOST_TEXT);
  if (end !== undefined) notes.push(end);
  if (cut) notes.push("It has more text than is read.");
  const broken = pages.filter((page) => page.lines === undefined).length;
  if (broken > 0) notes.push(`${broken} of its pages are damaged and could not be read.`);
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

/** A page; without lines where it is damaged. */
export interface PdfPage {
  readonly number: number;
  readonly lines: readonly PageLine[] | undefined;
}

async function readPages(
  pdf: Pdf,
  { now }: ReadParts,
): Promise<{ readonly pages: readonly PdfPage[]; readonly end: string | undefined }> {
  const pages: PdfPage[] = [];
  const last = now() + MOST_TIME;
  let broken = 0;
  let size = 0;
  const only = (why: string): string => `Only its first ${pages.length} pages were read: ${why}.`;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    if (number > MOST_PAGES) return { pages, end: only("it says that it has more than 10,000") };
    if (now() > last) return { pages, end: only("the rest would take too long") };
    if (size > MOST_TEXT) return { pages, end: only("they hold more text than is read") };
    const lines = await readPage(pdf, number);
    broken = lines === undefined ? broken + 1 : 0;
    if (broken > MOST_BROKEN) {
      return { pages: pages.slice(0, 1 - broken), end: only("those behind are damaged") };
    }
    for (const line of lines ?? []) size += line.text.length;
    pages.push({ number, lines });
  }
  return { pages, end: undefined };
}

async function readPage(pdf: Pdf, number: number): Promise<readonly PageLine[] | undefined> {
  try {
    const page = await pdf.getPage(number);
    const items: TextItem[] = [];
    const reader = page.streamTextContent().getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const item of value.items) if ("str" in item) items.push(item);
      if (items.length > MOST_ITEMS) {
        await reader.cancel(new Error("enough"));
        break;
      }
    }
    page.cleanup();
    return linesOf(items);
  } catch {
    // A damaged page: which it is stands in the text, and how many there are in the notes.
    return undefined;
  }
}

async function titleOf(pdf: Pdf): Promise<string> {
  try {
    const { info } = await pdf.getMetadata();
    return "Title" in info && typeof info.Title === "string" ? info.Title : "";
  } catch {
    // Of a damaged file everything else may still be read.
    return "";
  }
}
