/** Where a document comes from: a file of the workspace, or a text in the arguments. @module */
import { type Form, formOf, readForm } from "./form/forms.ts";
import { Refusal } from "./refusal.ts";
import type { Json } from "./values.ts";

/** What this plugin uses of the host. */
export interface JsonHost {
  readonly fs: {
    read(
      args: { readonly path: string; readonly from?: number; readonly bytes?: number },
    ): Promise<FilePart>;
    write(args: { readonly path: string; readonly text: string }): Promise<unknown>;
  };
}

/** A part of a file. */
export interface FilePart {
  readonly text?: string;
  /** Size of the whole file. */
  readonly bytes: number;
  /** Byte to go on from. */
  readonly next?: number;
  /** Byte after the last one that was read. */
  readonly end?: number | boolean;
  /** Some bytes were no UTF-8. */
  readonly lossy?: boolean;
}

/** How a document is named and read. */
export interface SourceArgs {
  readonly path?: string;
  readonly text?: string;
  readonly format?: Form;
  readonly delimiter?: string;
  readonly header?: boolean;
}

/** Most bytes of a document: 8 MiB. */
const DOCUMENT_BYTES = 8 * 1024 * 1024;
const PART_BYTES = 4 * 1024 * 1024;

/** A document: its value and the form it came in. */
export interface Document {
  readonly value: Json;
  readonly form: Form;
}

/** Reads the document that the arguments name. @throws {Refusal} when they name none or two, or it does not parse. */
export async function readDocument(args: SourceArgs, host: JsonHost): Promise<Document> {
  const { path, text } = args;
  if ((path === undefined) === (text === undefined)) {
    throw new Refusal("invalidArguments", "Cannot read a document: give either `path` or `text`");
  }
  const form = args.format ?? (path === undefined ? "json" : formOf(path));
  if (form === undefined) {
    throw new Refusal(
      "invalidArguments",
      `Cannot tell the form of "${path}" by its name: pass \`format\``,
    );
  }
  const whole = text ?? await readWhole(path ?? "", host);
  const delimiter = args.delimiter ?? (path?.toLowerCase().endsWith(".tsv") === true ? "\t" : ",");
  const value = readForm(form, whole.startsWith("\ufeff") ? whole.slice(1) : whole, {
    delimiter,
    header: args.header ?? true,
  });
  return { value, form };
}

async function readWhole(path: string, host: JsonHost): Promise<string> {
  const parts: string[] = [];
  let from = 0;
  while (true) {
    const part = await host.fs.read({ path, from, bytes: PART_BYTES });
    if (part.bytes > DOCUMENT_BYTES) {
      throw new Refusal(
        "tooLarge",
        `Cannot read "${path}": it has ${part.bytes} bytes, and ${DOCUMENT_BYTES} are taken`,
      );
    }
    if (part.lossy === true || part.text === undefined) {
      throw new Refusal("invalidInput", `Cannot read "${path}": it is not UTF-8 text`);
    }
    parts.push(part.text);
    const next = part.next ?? (typeof part.end === "number" ? part.end : part.bytes);
    // A host that does not move on would be asked for ever.
    if (next >= part.bytes || next <= from) return parts.join("");
    from = next;
  }
}
