/** What a dialect makes of a model's text. @module */

/** A call in a text. */
export interface OutCall {
  readonly name: string;
  /** JSON text; of a call that is wrong, what the model wrote. */
  readonly arguments: string;
  /** Its closing mark was written. */
  readonly closed?: boolean;
  /** Why it cannot be read. */
  readonly wrong?: string;
}

/** A piece of an answer: text, a thought, or a call. */
export type Out =
  | { readonly text: string }
  | { readonly rationale: string }
  | { readonly call: OutCall };

/** A list of pieces in which neighbours of one kind are one. */
export interface Outs {
  text(piece: string): void;
  rationale(piece: string): void;
  call(call: OutCall): void;
  /** All pieces since the last time. */
  take(): readonly Out[];
}

/** Makes an empty list. */
export function makeOuts(): Outs {
  let outs: Out[] = [];
  let kind: "text" | "rationale" | "call" = "call";
  let parts: string[] = [];

  function flush(): void {
    if (parts.length > 0) {
      const joined = parts.join("");
      outs.push(kind === "text" ? { text: joined } : { rationale: joined });
      parts = [];
    }
  }
  function add(to: "text" | "rationale", piece: string): void {
    if (piece === "") return;
    if (kind !== to) flush();
    kind = to;
    parts.push(piece);
  }
  return Object.freeze<Outs>({
    text: (piece) => add("text", piece),
    rationale: (piece) => add("rationale", piece),
    call(call) {
      flush();
      kind = "call";
      outs.push({ call });
    },
    take() {
      flush();
      const taken = outs;
      outs = [];
      return taken;
    },
  });
}
