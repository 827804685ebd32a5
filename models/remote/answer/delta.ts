/** A provider's stream in words that are nobody's. @module */
import type { FinishReason } from "../../../contracts/model.ts";

/** A piece of an answer. `key` names a call within one answer; any text that is the same each time. */
export type Delta =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "rationale"; readonly text: string }
  | {
    readonly kind: "callStart";
    readonly key: string;
    /** The provider's; absent or unfit: one is made. */
    readonly id?: string | undefined;
    /** As on the wire. */
    readonly name: string;
  }
  | { readonly kind: "callDelta"; readonly key: string; readonly text: string }
  /** What the provider wants back with a call that was begun. */
  | { readonly kind: "callEcho"; readonly key: string; readonly echo: string }
  /** All tokens so far: later ones replace earlier ones. */
  | {
    readonly kind: "usage";
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    /** Of the input. */
    readonly cacheReadTokens?: number;
    readonly cacheWriteTokens?: number;
  }
  | { readonly kind: "finish"; readonly reason: FinishReason };
