/** Which reader reads which kind. Each is loaded when it is first needed. @module */
import type { SourceKind } from "../../contracts/wiki_source.ts";
import type { DocumentReader } from "./document.ts";
import { readHtml } from "./html_reader.ts";
import { readPlain } from "./text_reader.ts";

/** A reader and its name in provenance: what changes in the text it makes changes its version. */
export interface NamedReader {
  /** `NAME@VERSION`. */
  readonly name: string;
  readonly read: DocumentReader;
}

const plain: NamedReader = { name: "text@2", read: readPlain };

/** Finds the reader of a kind. */
export async function readerOf(kind: SourceKind): Promise<NamedReader> {
  switch (kind) {
    case "html":
      return { name: "html@2", read: readHtml };
    case "pdf": {
      const { readPdf } = await import("./pdf/read_pdf.ts");
      return { name: "pdf@2", read: readPdf };
    }
    case "docx": {
      const { readDocx } = await import("./docx/read_docx.ts");
      return { name: "docx@2", read: readDocx };
    }
    case "epub": {
      const { readEpub } = await import("./epub/read_epub.ts");
      return { name: "epub@2", read: readEpub };
    }
    case "mail": {
      const { readMail } = await import("./mail/read_mail.ts");
      return { name: "mail@2", read: readMail };
    }
    default:
      return plain;
  }
}
