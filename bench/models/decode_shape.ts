/** What engines decode to be compared. @module */
import { makeTinyGguf } from "../../models/_fixture/tiny_gguf.ts";

/** Tokens of context. */
export const CONTEXT = 4_096;
/** What they answer to. */
export const PROMPT = "the path of the file ".repeat(12);

/** Weights, and how many tokens are decoded with them. */
export interface DecodeLoad {
  readonly size: string;
  readonly tokens: number;
  /** Smaller than any model that is used: what it shows is the time around a token, not a share. */
  readonly toy: boolean;
  readonly weights: () => Uint8Array<ArrayBuffer>;
}

const random = (width: number, layers: number) => (): Uint8Array<ArrayBuffer> =>
  makeTinyGguf({ seed: 7, endless: true, width, layers });

/** Random weights that never end an answer: a token of the smallest takes a third of a millisecond. */
export const LOADS: readonly DecodeLoad[] = [
  { size: "0.6 MB", tokens: 400, toy: true, weights: random(64, 2) },
  { size: "14 MB", tokens: 400, toy: true, weights: random(256, 4) },
  // Here a token takes as long as one of a real small model on a fast machine.
  { size: "100 MB", tokens: 48, toy: false, weights: random(512, 8) },
];
