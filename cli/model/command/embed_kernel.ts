/** An embedder behind the kernel, as `model embed` uses it, and what it used. @module */
import * as z from "zod";
import { type Label, type ModelChoice, toJson } from "../../../contracts/mod.ts";
import type { TextEmbedder } from "../../../contracts/model.ts";
import type { KernelLink } from "../../hands.ts";

const Answer = z.object({
  model: z.string(),
  vectors: z.array(z.array(z.number())).max(256),
  inputTokens: z.number(),
  money: z.number(),
});

/** What was used so far. */
export interface EmbedUse {
  /** Empty before the first text. */
  readonly model: string;
  readonly inputTokens: number;
  /** US dollars. */
  readonly money: number;
}

/** An embedder, at most 256 texts at once, and its use. */
export interface KernelEmbedder extends Pick<TextEmbedder, "embed"> {
  used(): EmbedUse;
}

/** Makes it; every text is as confidential as `label` says. */
export function makeKernelEmbedder(
  link: Pick<KernelLink, "ask">,
  choice: ModelChoice,
  label: Label,
): KernelEmbedder {
  let use: EmbedUse = { model: "", inputTokens: 0, money: 0 };
  return Object.freeze<KernelEmbedder>({
    used: () => use,
    async embed(texts) {
      const asked = await link.ask("embed", toJson({ model: choice, texts: [...texts], label }));
      const { model, vectors, inputTokens, money } = Answer.parse(asked);
      use = {
        model,
        inputTokens: use.inputTokens + inputTokens,
        money: use.money + money,
      };
      return { vectors: vectors.map((each) => Float32Array.from(each)), inputTokens };
    },
  });
}
