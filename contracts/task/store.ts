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
  /** Another kernel made it durable, before this one took its task over: it gets a place in this log, too. */
  readonly adopted?: true;
}

/** An event as it was read back, with its place in the order of append (from 1, without gaps). */
export interface StoredEvent extends EventRow {
  readonly seq: number;
}

/** Erasable content. `digest = SHA-256(salt ‖ bytes)`; erasing keeps the digest and drops the rest. */
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
  /** From 1; raised by one with each write. */
  readonly version: number;
  readonly body: JsonObject;
}

/** A write of a document: `expect` is the version it replaces, 0 for a new one. */
export interface DocumentWrite {
  readonly kind: string;
  readonly id: string;
  readonly task: string;
  readonly expect: number;
  readonly body: JsonObject;
}

/** Which documents; all that is given must hold. */
export interface DocumentQuery {
  readonly kind: string;
  readonly task?: string | undefined;
  /**
   * How it stands, as its body says: the `status` of a task (`archived` where it is that), the `state`
   * of a question, an empty text for what says neither.
   */
  readonly states?: readonly string[] | undefined;
  /** How its id begins. */
  readonly prefix?: string | undefined;
  /** Made after, or before, the one with this id. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** The last of them, newest first. */
  readonly newest?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** Which ends of chains. */
export interface HeadQuery {
  readonly after?: string;
  readonly untilSeq?: number;
  readonly limit?: number;
}

/** What is made durable together, or not at all. */
export interface Batch {
  readonly events: readonly EventRow[];
  readonly blobs: readonly BlobRow[];
  readonly documents: readonly DocumentWrite[];
}

/** Durable state. Every method rejects with `storeFull`, `storeCorrupt` or `conflict`. */
export interface Store {
  /** Atomic and durable when it resolves. `conflict`: a chain position or document version was taken. */
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
   * The last event of each chain: the kernel's first, then in the order in which chains were begun. At most `limit`
   * (absent: all), after the chain named `after`, as they stood at event `untilSeq`.
   */
  heads(query?: HeadQuery): Promise<readonly EventRow[]>;
  /** The last event of one chain; undefined when it has none. */
  head(task: string): Promise<EventRow | undefined>;
  /** Content of a task's. Undefined when erased or never stored. */
  blob(
    task: string,
    digest: Digest,
  ): Promise<{ readonly salt: Uint8Array; readonly bytes: Uint8Array } | undefined>;
  /** Erases the content of a task; resolves with how many blobs went. */
  eraseBlobs(task: string): Promise<number>;
  document(kind: string, id: string): Promise<DocumentRow | undefined>;
  /** The same at once: what a kernel must know between two awaits is not kept in memory for it. */
  peek(kind: string, id: string): DocumentRow | undefined;
  /** In the order in which they were made, at most `limit` (default 1,000). */
  documents(query: DocumentQuery): Promise<readonly DocumentRow[]>;
  close(): Promise<void>;
}

/** The log over a store: chains, seals, group commit. */
export interface EventLog {
  /**
   * Appends events of one task and writes documents with them, in one commit group. Resolves when
   * durable, with the chain positions. Rejects `storeFull` with nothing written. `at` is when they
   * happened, now when absent: what is folded from them elsewhere must have the same time.
   */
  append(
    task: string,
    events: readonly import("./event.ts").NewEvent[],
    documents?: readonly DocumentWrite[],
    at?: number,
  ): Promise<readonly { readonly n: number; readonly hash: Digest }[]>;
  /**
   * Like `append`, but makes no commit of its own for a tenth of a second: it goes with the next one,
   * before what is appended after it. For what nothing follows from that has no commit of its own. A
   * log without it commits at once.
   */
  readonly appendWithNext?: EventLog["append"];
  /** The hash of the kernel chain's last seal: keep it elsewhere to detect a cut tail. */
  head(): Digest;
}

/** A log that takes over tasks of other kernels' logs. */
export interface AdoptingLog extends EventLog {
  /**
   * Gives events that another kernel made durable, a task's next ones from where this log has them, a place in this log,
   * under its own seals. Rejects `storeCorrupt` where they do not follow one another.
   */
  adopt(events: readonly EventRow[]): Promise<void>;
}
