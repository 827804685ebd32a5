/**
 * Embeds texts, through the kernel, with the embedder of remit.yaml or of a flag. Used by the commands of cli/wiki and by
 * cli/sgrep.
 * @module
 */
import * as z from "zod";
import type { Label } from "../../../contracts/authority/mod.ts";
import { Fault, toJson } from "../../../contracts/base/mod.ts";
import { DEAREST } from "../../../contracts/model/mod.ts";
import type { Command } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { modelParts } from "../../model/choice.ts";
import { resolveEmbedder } from "../../model/embedder.ts";
import type { AskedProvider } from "../../../contracts/model/mod.ts";
import type { Basic } from "../../powers.ts";

/** An embedder that the kernel has started or can reach. */
export interface OpenEmbedder {
  readonly ref: string;
  /** Names the space of the vectors: only vectors with the same name can be compared. */
  readonly vectors: string;
  readonly providers: readonly AskedProvider[];
  /** Estimated upper bound in US dollars for these texts. */
  priceOf(texts: readonly string[]): number;
  /** Embeds texts: the first `queries` with the prefix of questions, others of passages. */
  embed(texts: readonly string[], label: Label, queries: number): Promise<Embedded>;
  close(): void;
}

const Answer = z.object({
  model: z.string(),
  vectors: z.array(z.array(z.number())),
  inputTokens: z.number(),
  money: z.number(),
});
/** Vectors in the order of the texts, input tokens, US dollars. */
export type Embedded = Omit<z.infer<typeof Answer>, "model">;

const CHARS_PER_TOKEN = 3;
const MILLION = 1e6;

/** Texts in one request to the kernel, at most. */
export const MAX_TEXTS = 256;
/** Estimated tokens of the first request, and the bounds to which later ones adapt. */
const TOKENS = { first: 4_096, max: 32_768, min: 256 };
/** Target duration of a request, in milliseconds. */
const REQUEST_MS = 10_000;

/** Prefixes of questions and passages that embedders were trained with, by name of weights. */
const PREFIXES: readonly {
  readonly names: RegExp;
  readonly query: string;
  readonly passage: string;
}[] = [
  { names: /e5(?:$|[-_.:])/i, query: "query: ", passage: "passage: " },
  {
    names: /(?:^|[^a-z])bge-(?:small|base|large)-en/i,
    query: "Represent this sentence for searching relevant passages: ",
    passage: "",
  },
];

/** The prefixes of an embedder, by any of its names; undefined where it was trained without. */
export function prefixesOf(names: readonly string[]): (typeof PREFIXES)[number] | undefined {
  return PREFIXES.find((each) => names.some((name) => each.names.test(name)));
}

/** How many of `texts` fit one request of `tokens` estimated tokens; at least one. */
export function batchOf(texts: readonly string[], tokens: number): number {
  let [count, sum] = [0, 0];
  for (const text of texts.slice(0, MAX_TEXTS)) {
    sum += Math.ceil(text.length / CHARS_PER_TOKEN);
    if (count > 0 && sum > tokens) break;
    count += 1;
  }
  return count;
}

/** Reaches the embedder that `text` refers to, or remit.yaml's. Throws as `resolveEmbedder`. */
export async function openEmbedder(
  command: Command<Basic | "mcpStore" | "models">,
  text: string | undefined,
): Promise<OpenEmbedder> {
  const { powers, places } = command;
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const part = await resolveEmbedder(text ?? config.embedder, modelParts(command, config));
  const { choice, lend, program, provider } = part;
  const resolved = {
    choice,
    lends: lend === undefined ? [] : [lend],
    programs: program === undefined ? [] : [program],
    providers: provider === undefined ? [] : [provider],
  };
  const link = await kernelFor(command, { config, mounts: [], resolved });
  const prefixes = prefixesOf([text ?? config.embedder ?? "", choice.ref]);
  let tokens = TOKENS.first;
  return Object.freeze<OpenEmbedder>({
    ref: choice.ref,
    // Vectors made without prefixes cannot be compared with vectors made with them.
    vectors: prefixes === undefined ? choice.ref : `${choice.ref} prefixed`,
    providers: resolved.providers,
    priceOf(texts) {
      if (provider === undefined) return 0;
      const tokens = texts.reduce((sum, each) => sum + Math.ceil(each.length / CHARS_PER_TOKEN), 0);
      return tokens * (provider.price ?? DEAREST).input / MILLION;
    },
    async embed(plain, label, queries): Promise<Embedded> {
      const texts = plain.map((each, n) =>
        `${(n < queries ? prefixes?.query : prefixes?.passage) ?? ""}${each}`
      );
      const all = { vectors: new Array<number[]>(), inputTokens: 0, money: 0 };
      for (let at = 0; at < texts.length;) {
        const batch = texts.slice(at, at + batchOf(texts.slice(at), tokens));
        const began = powers.environment.now();
        const answer = Answer.safeParse(
          await link.ask("embed", toJson({ model: choice, texts: batch, label })),
        );
        if (!answer.success || answer.data.vectors.length !== batch.length) {
          throw new Fault("upstream", "Cannot embed: the kernel's answer does not read");
        }
        // Small requests on a slow machine keep the deadline; large ones save round trips.
        const factor = REQUEST_MS / Math.max(1, powers.environment.now() - began);
        const next = tokens * Math.min(2, Math.max(0.5, factor));
        tokens = Math.min(TOKENS.max, Math.max(TOKENS.min, Math.round(next)));
        all.vectors.push(...answer.data.vectors);
        all.inputTokens += answer.data.inputTokens;
        all.money += answer.data.money;
        at += batch.length;
      }
      return all;
    },
    close: () => link.close(),
  });
}
