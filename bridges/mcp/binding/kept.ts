/** Names and bytes of what is kept of a result. @module */
import type { McpPart } from "../../../contracts/wire_mcp.ts";

/** Endings of names; whatever else a server says of its bytes, they are bytes. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
  "text/markdown": "md",
};

/** `TOOL-1.png`: nothing of it is the server's word but which of our endings it has. */
export function artifactName(tool: string, n: number, part: McpPart): string {
  const mime = part.kind === "blob" || part.kind === "resource" ? part.mimeType : undefined;
  const usual = part.kind === "resource" ? "txt" : "bin";
  const known = mime === undefined ? undefined : mime.split(";")[0]?.trim().toLowerCase();
  const ending = known !== undefined && Object.hasOwn(ENDINGS, known) ? ENDINGS[known] : usual;
  return `${tool}-${n}.${ending ?? usual}`;
}

/** The bytes of a base64 text; undefined when it is none. */
export function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return undefined;
  }
}

/** A text's bytes, UTF-8. */
export function bytesOfText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text.toWellFormed());
}
