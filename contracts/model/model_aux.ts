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
  /** A score for each text, higher is nearer; scores of different queries do not compare. */
  rank(
    query: string,
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly number[]>;
}

/** What a guard looks at. */
export interface Guarded {
  readonly stage: "beforeTool" | "afterTool";
  readonly tool: string;
  /** Arguments before, content after. */
  readonly text: string;
}

/** What a guard that is a model says of a call or a result that it flags, or could not look at. */
export interface GuardFlag {
  /** `guard NAME: why`, at most 200 characters. The words are a model's. */
  readonly advice: string;
  /** `remit.yaml guard: NAME`. */
  readonly rule: string;
  readonly raises: "advise" | "consent" | "stepUp" | "forbidden";
}

/** A look at what goes into a tool and what comes out: advice that is shown with a question. */
export interface Guard {
  /** Reasons to look twice, each a sentence; empty when there are none. */
  check(guarded: Guarded): readonly string[];
}
