/** A provider's stream in words that are nobody's. @module */
import type { FinishReason } from "../../contracts/model.ts";

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
  /** All tokens so far: later ones replace earlier ones. */
  | { readonly kind: "usage"; readonly inputTokens?: number; readonly outputTokens?: number }
  | { readonly kind: "finish"; readonly reason: FinishReason };
