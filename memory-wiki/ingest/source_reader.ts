/** Files that are taken in: how they are read, which ones have not changed since, which ones are gone. @module */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { OpenWiki } from "../ops/op.ts";
import type { WikiDocuments } from "../store/wiki_store.ts";

/** What tells one state of a file from another without reading it. Milliseconds; bytes. */
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
   * @throws Fault `notFound`; `refused` for a link, a folder, a pipe or a device, or where a folder above it is a link.
   */
  look(path: string): Promise<FileFacts>;
  /**
   * Its bytes, and the facts that held before and after they were read.
   * @throws Fault as {@link SourceReader.look}; `tooLarge` past `maxBytes`; `conflict` when it was changed meanwhile.
   */
  read(
    path: string,
    maxBytes: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly facts: FileFacts }>;
}

// What was known of each file when it was last taken in, so that an unchanged one need not be
// read.

/** Documents that the memo is spread over. */
const SHARDS = 64;
/** A file that was changed so shortly before it was read may change again within one tick of its clock, ms. */
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

/** The memo of one ingest. */
export interface SeenFiles {
  /** The source that the file was when it had these facts; undefined when it must be read. */
  known(key: string, facts: FileFacts, asked: string): number | undefined;
  note(key: string, facts: FileFacts, asked: string, source: number): void;
  forget(key: string): void;
  /** Makes it durable. What is lost before is read again, nothing else. */
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

// Sources whose origin is no longer there.

/** Marks as removed every current source under a prefix that is not among those present; gives their keys. */
export function goneSources(
  { store, hands }: OpenWiki,
  keyPrefix: string,
  present: { readonly keys: ReadonlySet<string>; readonly unseen: readonly string[] },
): readonly string[] {
  const gone = store.sources.list({ state: "current", keyPrefix })
    .map(({ key }) => key)
    .filter((key) => !present.keys.has(key))
    .filter((key) => !present.unseen.some((prefix) => key.startsWith(prefix)));
  const seen = makeSeenFiles(store.documents, hands.now);
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
