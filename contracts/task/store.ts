/** The store's contract: one for every engine. @module */
import type { JsonObject } from "../base/json.ts";
import type { Digest } from "../authority/ids.ts";

/** One stored event. `task` is a task id, or `kernel` for the kernel's chain of seals. */
export interface EventRow {
  readonly task: string;
  readonly n: number;
  readonly kind: string;
  readonly at: number;
  readonly body: string;
  readonly hash: Digest;
  /** Written by another kernel before this one took over its task; added to this log as well. */
  readonly adopted?: true;
}

/** An event read back, with its position in the order of append (from 1, without gaps). */
export interface StoredEvent extends EventRow {
  readonly seq: number;
}

/** Erasable content. `digest = SHA-256(salt ‖ bytes)`; erasing keeps only the digest. */
export interface BlobRow {
  readonly task: string;
  readonly digest: Digest;
  readonly salt: Uint8Array;
  readonly bytes: Uint8Array;
}

/** A versioned document: questions, leases, artifacts, tasks. */
export interface DocumentRow {
  readonly kind: string;
  readonly id: string;
  readonly task: string;
  /** From 1; incremented with each write. */
  readonly version: number;
  readonly body: JsonObject;
}

/** A write of a document: `expect` is the version to replace, 0 for a new document. */
export interface DocumentWrite {
  readonly kind: string;
  readonly id: string;
  readonly task: string;
  readonly expect: number;
  readonly body: JsonObject;
}

/** A query for documents; all given conditions must hold. */
export interface DocumentQuery {
  readonly kind: string;
  readonly task?: string | undefined;
  /**
   * State in the document's body: the `status` of a task (`archived` if archived), the `state` of a
   * question, an empty text for other documents.
   */
  readonly states?: readonly string[] | undefined;
  /** Prefix of the id. */
  readonly prefix?: string | undefined;
  /** Created after, or before, the document with this id. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** The newest matches, newest first. */
  readonly newest?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** A query for heads of chains. */
export interface HeadQuery {
  readonly after?: string;
  readonly untilSeq?: number;
  readonly limit?: number;
}

/** Rows written atomically. */
export interface Batch {
  readonly events: readonly EventRow[];
  readonly blobs: readonly BlobRow[];
  readonly documents: readonly DocumentWrite[];
}

/** Durable state. Every method rejects with `storeFull`, `storeCorrupt` or `conflict`. */
export interface Store {
  /** Commits atomically; durable when it resolves. `conflict`: a chain position or document version is taken. */
  commit(batch: Batch): Promise<void>;
  /** At most `limit` (default 1,000), ascending by `seq`; with `newest`, the last of them, newest first. */
  events(query: {
    readonly task?: string;
    readonly afterSeq?: number;
    /** None after this one. */
    readonly untilSeq?: number;
    readonly newest?: boolean;
    readonly fromN?: number;
    readonly kinds?: readonly string[];
    readonly limit?: number;
  }): Promise<readonly StoredEvent[]>;
  /**
   * The last event of each chain: the kernel's first, then in the order in which the chains began.
   * At most `limit` (absent: all), after the chain `after`, as of event `untilSeq`.
   */
  heads(query?: HeadQuery): Promise<readonly EventRow[]>;
  /** The last event of one chain; undefined for an empty chain. */
  head(task: string): Promise<EventRow | undefined>;
  /** Content of a task; undefined if erased or never stored. */
  blob(
    task: string,
    digest: Digest,
  ): Promise<{ readonly salt: Uint8Array; readonly bytes: Uint8Array } | undefined>;
  /** Erases the content of a task; resolves with the number of blobs erased. */
  eraseBlobs(task: string): Promise<number>;
  document(kind: string, id: string): Promise<DocumentRow | undefined>;
  /** Synchronous `document`, for values that a kernel needs between two awaits. */
  peek(kind: string, id: string): DocumentRow | undefined;
  /** In order of creation, at most `limit` (default 1,000). */
  documents(query: DocumentQuery): Promise<readonly DocumentRow[]>;
  close(): Promise<void>;
}

/** The log over a store: chains, seals, group commit. */
export interface EventLog {
  /**
   * Appends events of one task and writes documents with them, in one commit group. Resolves when
   * durable, with the chain positions. Rejects `storeFull` with nothing written. `at` is the time
   * of the events, default now; events that mirror others must have the same time.
   */
  append(
    task: string,
    events: readonly import("./event.ts").NewEvent[],
    documents?: readonly DocumentWrite[],
    at?: number,
  ): Promise<readonly { readonly n: number; readonly hash: Digest }[]>;
  /**
   * Like `append`, but waits up to a tenth of a second to join the next commit, in order. For
   * events that nothing depends on unless a later append commits anyway. A log without this method
   * commits at once.
   */
  readonly appendWithNext?: EventLog["append"];
  /** The hash of the kernel chain's last seal: store it elsewhere to detect a cut tail. */
  head(): Digest;
}

/** A log that takes over tasks of other kernels' logs. */
export interface AdoptingLog extends EventLog {
  /**
   * Adds events that another kernel wrote, continuing a task's chain in this log, under this log's
   * seals. Rejects `storeCorrupt` if they do not follow one another.
   */
  adopt(events: readonly EventRow[]): Promise<void>;
}
