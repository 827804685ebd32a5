/** Small helpers beside the language model. None of them is ever a permission. @module */

/** Counts tokens as one model does. */
export interface Tokenizer {
  count(text: string): Promise<number>;
}

/** One label of several for a text. */
export interface Classifier {
  /** Scores between 0 and 1, in the order of `labels` (2 to 64). Rejects with a fault. */
  classify(
    text: string,
    labels: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly number[]>;
}

/** Puts texts in order for a query. */
export interface Reranker {
  /** A score for each text, higher is more relevant; not comparable between queries. */
  rank(
    query: string,
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly number[]>;
}

/** Input of a guard. */
export interface Guarded {
  readonly stage: "beforeTool" | "afterTool";
  readonly tool: string;
  /** Arguments before, content after. */
  readonly text: string;
}

/** A model guard's flag on a call or result, or on one that it could not check. */
export interface GuardFlag {
  /** `guard NAME: why`, at most 200 characters. Text of a model. */
  readonly advice: string;
  /** `remit.yaml guard: NAME`. */
  readonly rule: string;
  readonly raises: "advise" | "consent" | "stepUp" | "forbidden";
}

/** Checks the input and output of tools; its advice is shown with a question. */
export interface Guard {
  /** Sentences with reasons for caution; may be empty. */
  check(guarded: Guarded): readonly string[];
}
