/** The bytes of a kept index: a line of what it is, with the checksum of the rest. @module */
import { createHash } from "node:crypto";
import type { Label } from "../../contracts/mod.ts";
import type { PageIndexDump } from "./page_index.ts";

/** Raised when the words, the passages or Orama's dump change: an older file is then built anew. */
const INDEX_FORMAT = "remit-wiki-index 7 orama-3.1.18";
/** Bytes within which the first line ends. */
export const MOST_HEAD = 512;

/** By hand and not by a schema, which takes as long as reading the JSON: what is within is vouched for by the checksum. */
function dumpOf(clearance: Label, generation: number, value: unknown): PageIndexDump | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!("clearance" in value) || value.clearance !== clearance) return undefined;
  if (!("generation" in value) || value.generation !== generation) return undefined;
  if (!("pages" in value) || !Array.isArray(value.pages) || !("words" in value)) return undefined;
  const { pages, words } = value;
  return { generation, pages, words };
}

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
  // TRUST: the checksum held, so that it is ours and whole; another clearance's file under this name is refused.
  return dumpOf(clearance, head.generation, JSON.parse(new TextDecoder().decode(body)));
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
