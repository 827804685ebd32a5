/** The text of a file that is taken in, and its passages. @module */
import {
  Fault,
  type ParseAsk,
  type Parsed,
  type SourceKind,
  TEXT_KINDS,
} from "../../contracts/mod.ts";
import { chunkText, encodingOf, oldTextOf, textFormOf } from "../markdown/mod.ts";
import { termsOf } from "../search/terms.ts";
import type { NewChunk } from "../store/wiki_store.ts";

/** Most of a document that is parsed, bytes; see ParseAsk. */
const MOST_PARSED = 32 * 1_048_576;

/** What became of the bytes. */
export interface SourceText {
  readonly title: string;
  readonly chunks: readonly NewChunk[];
  /** The text form; undefined where the bytes are the text. */
  readonly text: Uint8Array | undefined;
  /** What made it, `NAME@VERSION`. */
  readonly parser: string | undefined;
  /** What was left out, or how it was read where that is a guess. */
  readonly notes: readonly string[];
}

/** Bytes and what is known of them. */
export interface SourceBytes {
  readonly kind: SourceKind;
  readonly name: string;
  readonly bytes: Uint8Array;
}

interface TextForm {
  readonly title: string;
  readonly text: Uint8Array | undefined;
  readonly parser: string | undefined;
  readonly notes: readonly string[];
}

/**
 * Makes text of the bytes where they are none, and cuts it.
 * @throws Fault `invalidInput` for what is no text, `tooLarge` for a document past 32 MiB, and what `parse` refuses.
 */
export async function textOf(
  parse: (ask: ParseAsk) => Promise<Parsed>,
  source: SourceBytes,
): Promise<SourceText> {
  const { kind, name, bytes } = source;
  const form = TEXT_KINDS.has(kind) ? plainForm(source) : await parsedForm(parse, source);
  const title = form.title === "" ? name : form.title;
  const { chunks, title: found } = chunkText(kind, form.text ?? bytes, { termsOf, title });
  // A parser has read the document's own title; its text only begins with some line.
  return { ...form, chunks, title: form.title === "" ? found : form.title };
}

async function parsedForm(
  parse: (ask: ParseAsk) => Promise<Parsed>,
  { kind, name, bytes }: SourceBytes,
): Promise<TextForm> {
  if (bytes.length > MOST_PARSED) {
    throw new Fault(
      "tooLarge",
      `Cannot parse ${
        JSON.stringify(name)
      }: it has ${bytes.length} bytes, ${MOST_PARSED} are parsed`,
    );
  }
  const { text, title, parser, notes } = await parse({ kind, name, bytes: bytes.toBase64() });
  if (text.trim() === "") {
    throw new Fault(
      "invalidInput",
      `Cannot take in ${JSON.stringify(name)}: no text was found in it`,
    );
  }
  return { title, parser, notes, text: new TextEncoder().encode(text) };
}

function plainForm({ bytes, name }: SourceBytes): TextForm {
  const encoding = encodingOf(bytes);
  if (encoding === "binary") {
    throw new Fault(
      "invalidInput",
      `Cannot take in ${JSON.stringify(name)}: it is binary, not text`,
    );
  }
  const wide = textFormOf(bytes);
  if (wide !== undefined) {
    return { title: "", notes: [], text: wide, parser: `remit-decode@1 ${encoding}` };
  }
  const old = oldTextOf(bytes);
  if (old.kind === "utf-8") {
    return { title: "", notes: [], text: undefined, parser: undefined };
  }
  if (old.kind === "unknown") {
    throw new Fault(
      "invalidInput",
      `Cannot take in ${
        JSON.stringify(name)
      }: it is no UTF-8, and its letters speak for no other encoding; save it as UTF-8 and ingest it again`,
    );
  }
  const notes = [`It is no UTF-8 and was read as ${old.encoding}${old.sure ? "" : ", a guess"}.`];
  const parser = `remit-decode@2 ${old.encoding}${old.sure ? "" : " (a guess)"}`;
  const text = new TextEncoder().encode(old.text.replaceAll("\0", "\ufffd"));
  return { title: "", notes, text, parser };
}
