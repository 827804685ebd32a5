/** Files to ingest: the interface to read them, and the memo that finds unchanged and removed ones. @module */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { OpenWiki } from "../ops/op.ts";
import type { WikiDocuments } from "../store/wiki_store.ts";

/** Identifies a state of a file without reading it. Milliseconds; bytes. */
export interface FileFacts {
  readonly size: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly inode: number;
}

/** Reads regular files, never through a link. */
export interface SourceReader {
  /**
   * Facts of the regular file at a real, absolute path.
   * @throws Fault `notFound`; `refused` for a link, folder, pipe or device, and below a folder that is a link
   */
  look(path: string): Promise<FileFacts>;
  /**
   * Its bytes, and its facts, which were equal before and after reading.
   * @throws Fault those of {@link SourceReader.look}; `tooLarge` above `maxBytes`; `conflict` if it changed meanwhile
   */
  read(
    path: string,
    maxBytes: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly facts: FileFacts }>;
}

// The memo of earlier ingests, so that an unchanged file is not read again.

/** Documents that store the memo. */
const SHARDS = 64;
/** A file changed so shortly before it was read may change again without a new time stamp. Milliseconds. */
const RACY_MS = 2_000;

const Entry = z.tuple([
  z.number(), // size
  z.number(), // mtime
  z.number(), // ctime
  z.number(), // inode
  z.number(), // seen at
  z.int(), // source
  z.string(), // what was asked: label, colour, owner, expiry
]);
const Shard = z.record(z.string(), Entry);

export interface SeenFiles {
  /** The source of the file if its facts and options are unchanged; undefined if it must be read. */
  known(key: string, facts: FileFacts, asked: string): number | undefined;
  note(key: string, facts: FileFacts, asked: string, source: number): void;
  forget(key: string): void;
  /** Stores the memo. Unsaved entries only cause files to be read again. */
  save(): void;
}

/** Opens the memo. */
export function makeSeenFiles(documents: WikiDocuments, now: () => number): SeenFiles {
  const shards = new Map<string, Map<string, z.infer<typeof Entry>>>();
  const touched = new Set<string>();

  function shardOf(key: string): [string, Map<string, z.infer<typeof Entry>>] {
    const byte = createHash("sha256").update(key).digest()[0] ?? 0;
    const name = `seen/${byte % SHARDS}`;
    let shard = shards.get(name);
    if (shard === undefined) {
      const stored = Shard.safeParse(documents.get(name));
      shard = new Map(stored.success ? Object.entries(stored.data) : []);
      shards.set(name, shard);
    }
    return [name, shard];
  }

  return Object.freeze<SeenFiles>({
    known(key, facts, asked) {
      const entry = shardOf(key)[1].get(key);
      if (entry === undefined) return undefined;
      const [size, mtime, ctime, inode, at, source, before] = entry;
      const same = size === facts.size && mtime === facts.mtime && ctime === facts.ctime &&
        inode === facts.inode && before === asked;
      return same && Math.max(mtime, ctime) + RACY_MS < at ? source : undefined;
    },
    note(key, facts, asked, source) {
      const [name, shard] = shardOf(key);
      const { size, mtime, ctime, inode } = facts;
      shard.set(key, [size, mtime, ctime, inode, now(), source, asked]);
      touched.add(name);
    },
    forget(key) {
      const [name, shard] = shardOf(key);
      if (shard.delete(key)) touched.add(name);
    },
    save() {
      for (const name of touched) documents.put(name, Object.fromEntries(shards.get(name) ?? []));
      touched.clear();
    },
  });
}

/**
 * Marks the current sources under a prefix as removed unless their files are present or were not looked at.
 * Returns their keys.
 */
export function goneSources(
  { store, powers }: OpenWiki,
  keyPrefix: string,
  present: { readonly keys: ReadonlySet<string>; readonly unseen: readonly string[] },
): readonly string[] {
  const gone = store.sources.list({ state: "current", keyPrefix })
    .map(({ key }) => key)
    .filter((key) => !present.keys.has(key))
    .filter((key) => !present.unseen.some((prefix) => key.startsWith(prefix)));
  const seen = makeSeenFiles(store.documents, powers.now);
  for (const key of gone) {
    store.sources.remove(key);
    seen.forget(key);
  }
  seen.save();
  if (gone.length > 0) {
    const text = `${gone.length} removed under ${keyPrefix}`;
    store.log.append({ kind: "ingest", by: "operator", text });
  }
  return gone;
}
