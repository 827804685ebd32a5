/** PDF files for tests, written by hand. @module */
import { joined } from "./zip.ts";

const text = new TextEncoder();

/** An object's content, or a stream with its dictionary. */
export type PdfObject = string | { readonly dictionary: string; readonly stream: Uint8Array };

/** A file of these objects, numbered from 1; the first is the catalog. */
export function makePdf(objects: readonly PdfObject[], trailer = ""): Uint8Array<ArrayBuffer> {
  const out: Uint8Array[] = [];
  const offsets: number[] = [];
  let size = 0;
  const put = (part: string | Uint8Array): void => {
    const bytes = typeof part === "string" ? text.encode(part) : part;
    out.push(bytes);
    size += bytes.length;
  };
  put("%PDF-1.7\n");
  for (const [at, object] of objects.entries()) {
    offsets.push(size);
    put(`${at + 1} 0 obj\n`);
    if (typeof object === "string") put(object);
    else {
      put(`<<${object.dictionary}/Length ${object.stream.length}>>stream\n`);
      put(object.stream);
      put("\nendstream");
    }
    put("\nendobj\n");
  }
  const start = size;
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  put(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table.join("")}`);
  put(`trailer<</Size ${objects.length + 1}/Root 1 0 R${trailer}>>\nstartxref\n${start}\n%%EOF`);
  return joined(out);
}

/** Text operators that show lines, the first at the top of a page. */
export function shown(lines: readonly string[], size = 11, left = 50, top = 780): string {
  const shows = lines.map((line) => `(${line.replace(/[()\\]/g, "\\$&")}) Tj T*`).join("\n");
  return `BT /F1 ${size} Tf ${left} ${top} Td ${size + 3} TL\n${shows}\nET\n`;
}

/** A file of pages with these contents. `catalog` and `page` are added to their dictionaries. */
export function pdfOf(
  pages: readonly (string | Exclude<PdfObject, string>)[],
  more: {
    readonly catalog?: string;
    readonly page?: string;
    readonly objects?: readonly PdfObject[];
    readonly count?: number;
    readonly trailer?: string;
  } = {},
): Uint8Array<ArrayBuffer> {
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`);
  const resources = "/Resources<</Font<</F1 3 0 R>>>>";
  return makePdf([
    `<</Type/Catalog/Pages 2 0 R${more.catalog ?? ""}>>`,
    `<</Type/Pages/Count ${more.count ?? pages.length}/Kids[${kids.join(" ")}]>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...pages.flatMap((content, at): readonly PdfObject[] => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]${resources}/Contents ${5 + at * 2} 0 R${
        more.page ?? ""
      }>>`,
      typeof content === "string" ? { dictionary: "", stream: text.encode(content) } : content,
    ]),
    ...(more.objects ?? []),
  ], more.trailer);
}
