/** The bytes of a kept index: a line of what it is, with the checksum of the rest. @module */
import { createHash } from "node:crypto";
import { z } from "zod";
import { Label } from "../../contracts/mod.ts";
import type { PageIndexDump } from "./page_index.ts";

/** Raised when the words, the passages or Orama's dump change: an older file is then built anew. */
export const INDEX_FORMAT = "remit-wiki-index 6 orama-3.1.18";
const MOST_HEAD = 512;

const Dump = z.object({
  clearance: Label,
  generation: z.int().min(0),
  pages: z.array(z.object({
    name: z.string(),
    version: z.int(),
    digest: z.string(),
    sections: z.array(z.object({
      startLine: z.int().min(1),
      endLine: z.int().min(1),
      headings: z.array(z.string()),
    })),
  })),
  words: z.looseObject({}),
});

/** Writes a dump. */
export function writeIndex(clearance: Label, dump: PageIndexDump): Uint8Array {
  const body = new TextEncoder().encode(JSON.stringify({ clearance, ...dump }));
  const head = new TextEncoder().encode(
    `${INDEX_FORMAT} ${dump.generation} ${body.length} ${sha256(body)}\n`,
  );
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/** Generation of a kept index, by its first line alone; undefined for what is none. */
export function indexGeneration(bytes: Uint8Array): number | undefined {
  return headOf(bytes)?.generation;
}

/** Reads a dump; undefined for anything that {@link writeIndex} did not write for this clearance. */
export function readIndex(clearance: Label, bytes: Uint8Array): PageIndexDump | undefined {
  const head = headOf(bytes);
  if (head === undefined) return undefined;
  const body = bytes.subarray(head.end);
  if (body.length !== head.length || sha256(body) !== head.sha256) return undefined;
  // The checksum held, so that it is ours and whole; another clearance's file under this name is refused.
  const parsed = Dump.safeParse(JSON.parse(new TextDecoder().decode(body)));
  if (!parsed.success || parsed.data.clearance !== clearance) return undefined;
  const { generation, pages, words } = parsed.data;
  return generation === head.generation ? { generation, pages, words } : undefined;
}

function headOf(bytes: Uint8Array) {
  const end = bytes.subarray(0, MOST_HEAD).indexOf(10);
  if (end < 0) return undefined;
  const line = new TextDecoder().decode(bytes.subarray(0, end));
  if (!line.startsWith(`${INDEX_FORMAT} `)) return undefined;
  const [, generation, length, sha] =
    /^(\d{1,15}) (\d{1,12}) ([0-9a-f]{64})$/.exec(line.slice(INDEX_FORMAT.length + 1)) ?? [];
  if (sha === undefined) return undefined;
  return { generation: Number(generation), length: Number(length), sha256: sha, end: end + 1 };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
