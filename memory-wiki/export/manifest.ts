/** `remit.json`: what an export holds, with digest, colour and label of every file. @module */
import * as z from "zod";
import { Colour, Digest, Fault, Label, Millis } from "../../contracts/mod.ts";
import type { ExportReport } from "../../contracts/wire_wiki.ts";

/** One exported file. */
export const ExportedFile = z.object({
  path: z.string().min(1).max(1_024),
  /** Of the file's bytes. */
  digest: Digest,
  colour: Colour,
  label: Label,
  /** The page or source that it shows; absent for lists. */
  page: z.object({ name: z.string(), version: z.int(), digest: Digest }).strict().optional(),
  source: z.object({ text: z.string(), version: z.int(), digest: Digest }).strict().optional(),
}).strict();
/** See {@link ExportedFile}. */
export type ExportedFile = z.infer<typeof ExportedFile>;

/** The whole manifest. It is a picture: what the store recorded counts when a file comes back. */
export const ExportManifest = z.object({
  remit: z.literal("wiki-export"),
  version: z.literal(1),
  exportedAt: Millis,
  clearance: Label,
  colour: Colour,
  label: Label,
  files: z.array(ExportedFile),
}).strict();
/** See {@link ExportManifest}. */
export type ExportManifest = z.infer<typeof ExportManifest>;

/**
 * What an export wrote, by its manifest, the manifest itself included.
 *
 * @throws Fault `invalidInput` when the text is no manifest.
 */
export function reportOf(manifest: string): ExportReport {
  const { files, colour, label } = parseManifest(manifest);
  return {
    files: files.length + 1,
    pages: files.filter(({ page }) => page !== undefined).length,
    sources: files.filter(({ source }) => source !== undefined).length,
    colour,
    label,
  };
}

function parseManifest(text: string): ExportManifest {
  try {
    return ExportManifest.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read an export's manifest: it is none", { cause });
  }
}
