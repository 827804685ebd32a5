/** An archive's entries, unpacked one at a time within bounds. Archives within it stay closed. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { DocumentBytes, Inflate } from "../document.ts";
import { readDirectory, type ZipEntry } from "./directory.ts";

/** An archive that is read. */
export interface Archive {
  readonly names: readonly string[];
  /** Entries whose names lead out of the archive, or are there twice: they are not in it. */
  readonly dropped: number;
  /**
   * Gives an entry's bytes to `take`, part by part, until it says false. Tells whether that was all;
   * undefined when there is no such entry, or it is encrypted, damaged or packed in a way that is not
   * known.
   */
  read(name: string, take: (part: Uint8Array) => boolean): Promise<boolean | undefined>;
}

/** Most bytes of one entry. */
const MOST_ENTRY = 96 * 1024 * 1024;
/** Most bytes that are unpacked of one archive. */
const MOST_ALL = 256 * 1024 * 1024;

const ELSEWHERE = 0xffffffff;

/** Opens an archive. Throws `invalidInput` for what is none. */
export function openArchive({ bytes, name }: DocumentBytes, inflate: Inflate): Archive {
  const { entries, dropped } = readDirectory(bytes, name);
  let left = MOST_ALL;

  const unpack = async (entry: ZipEntry, take: (part: Uint8Array) => boolean): Promise<boolean> => {
    const most = Math.min(left, MOST_ENTRY);
    let given = 0;
    const counted = (part: Uint8Array): boolean => {
      left -= part.length;
      given += part.length;
      return take(part);
    };
    if (entry.method === 8) {
      const whole = await inflate(entry.packed, most, counted);
      // The runtime takes a stream that breaks off for one that ends. 32 bits of ones: told elsewhere.
      return whole && (given >= entry.size || entry.size === ELSEWHERE);
    }
    return counted(entry.packed.subarray(0, most)) && entry.packed.length <= most;
  };

  return Object.freeze({
    names: [...entries.keys()],
    dropped,
    async read(entryName: string, take: (part: Uint8Array) => boolean) {
      const entry = entries.get(entryName);
      if (entry === undefined || entry.encrypted) return undefined;
      if (entry.method !== 0 && entry.method !== 8) return undefined;
      if (left <= 0) throw tooLarge(name);
      try {
        return await unpack(entry, take);
      } catch (error) {
        // Damaged deflate: what was given before it stands.
        if (error instanceof TypeError) return undefined;
        throw error;
      }
    },
  });
}

/** Reads an entry as one piece of at most `most` bytes; undefined when it cannot be read. */
export async function readEntry(
  archive: Archive,
  name: string,
  most: number,
): Promise<{ readonly bytes: Uint8Array; readonly whole: boolean } | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const whole = await archive.read(name, (part) => {
    parts.push(part);
    size += part.length;
    return size <= most;
  });
  if (whole === undefined) return undefined;
  const bytes = new Uint8Array(Math.min(size, most));
  let at = 0;
  for (const part of parts) {
    const fitting = part.subarray(0, bytes.length - at);
    bytes.set(fitting, at);
    at += fitting.length;
  }
  return { bytes, whole: whole && size <= most };
}

function tooLarge(name: string): Fault {
  return new Fault(
    "tooLarge",
    `Cannot read ${JSON.stringify(name)}: it unpacks to more than ${MOST_ALL / 1024 / 1024} MiB`,
  );
}
