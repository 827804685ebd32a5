/** What a check of a log found. @module */
import type { Digest } from "../../contracts/ids.ts";

/**
 * What is wrong with an event:
 * - `missing`: nothing, or a later event, is where it should be;
 * - `repeated`: its place in its chain was taken before;
 * - `changed`: its fields do not give its hash;
 * - `replaced`: it fits its chain, but is not what was sealed in this place;
 * - `content`: its private part is not what the event was made with;
 * - `unsealed`: no seal covers it;
 * - `badSeal`: a seal that is malformed or not signed with the key;
 * - `unreadable`: the store, or the line, does not give it back;
 * - `badIndex`: the events are intact, but the store's index of chains says otherwise;
 * - `cutTail`: the head that was kept elsewhere is not in the log.
 */
export type Flaw =
  | "missing"
  | "repeated"
  | "changed"
  | "replaced"
  | "content"
  | "unsealed"
  | "badSeal"
  | "unreadable"
  | "badIndex"
  | "cutTail";

/** The first event that is not as it was written. */
export interface BadEvent {
  /** Its place in the order of append, from 1: where it is, or should have been. */
  readonly seq: number;
  /** The chain and place of the event found there, or of the one missing; absent if unknown. */
  readonly task?: string;
  readonly n?: number;
  readonly kind?: string;
  readonly flaw: Flaw;
  /** One sentence for a person. Holds no untrusted text. */
  readonly why: string;
}

/** The result of {@link verifyLog}: what is intact, and the first thing that is not. */
export interface VerifyReport {
  readonly ok: boolean;
  /** Events that are intact and sealed, seals included. */
  readonly events: number;
  readonly seals: number;
  /** Chains, without the kernel's. */
  readonly tasks: number;
  readonly contents: {
    readonly intact: number;
    /** Gone, under a later `purged` event of the task. */
    readonly erased: number;
    /** Gone without a `purged` event. */
    readonly unexplained: number;
  };
  /** Hash of the last intact seal; keep it elsewhere. Zeros for an empty log. */
  readonly head: Digest;
  /** `seq` of the last intact seal; 0 when there is none. */
  readonly lastSeal: number;
  /**
   * Whether the log reaches the head that was kept: `unchecked` without one, because a log that
   * was cut off after a seal is a shorter intact log.
   */
  readonly tail: "intact" | "unchecked" | "cut";
  readonly bad?: BadEvent;
}
