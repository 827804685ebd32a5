/** Plain text that is not UTF-8. @module */
import { decodeText } from "./decode_text.ts";
import type { DocumentReader } from "./document.ts";

/** Reads text of any encoding that can be told. */
export const readPlain: DocumentReader = ({ bytes, name }) => {
  const { text, notes } = decodeText(bytes, name);
  return { text, notes, title: "" };
};
