/** Vectors for a wiki, from the embedder of remit.yaml or a flag, through the kernel. @module */
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

/** Something that makes vectors. */
export interface OpenEmbedder {
  readonly ref: string;
  /** Names the vectors: those of another name do not compare. */
  readonly vectors: string;
  readonly providers: readonly AskedProvider[];
  /** US dollars that vectors of these texts may cost at most, as far as known. */
  priceOf(texts: readonly string[]): number;
  /** Of the texts the first `queries` are asked, the others are asked about: some embedders tell them apart. */
  embed(texts: readonly string[], label: Label, queries: number): Promise<Embedded>;
  close(): void;
}

const Answer = z.object({
  model: z.string(),
  vectors: z.array(z.array(z.number())),
  inputTokens: z.number(),
  money: z.number(),
});
/** Vectors in the order of the texts, and what they took. */
export type Embedded = Omit<z.infer<typeof Answer>, "model">;

const CHARS_A_TOKEN = 3;
const MILLION = 1e6;

/** Texts of one request to the kernel. */
export const MAX_TEXTS = 256;
/** Tokens of one request, estimated: at first, and at most; and how long one should take, milliseconds. */
const TOKENS = { first: 4_096, most: 32_768, least: 256 };
const BATCH_MS = 10_000;

/** What embedders were trained to see before a question and before a passage, by the names of their weights. */
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

/** The prefixes of an embedder; undefined where it wants none. */
export function prefixesOf(names: readonly string[]): (typeof PREFIXES)[number] | undefined {
  return PREFIXES.find((each) => names.some((name) => each.names.test(name)));
}

/** How many of `texts` are embedded at once: as many as `tokens` allow, one at least. */
export function batchOf(texts: readonly string[], tokens: number): number {
  let [count, sum] = [0, 0];
  for (const text of texts.slice(0, MAX_TEXTS)) {
    sum += Math.ceil(text.length / CHARS_A_TOKEN);
    if (count > 0 && sum > tokens) break;
    count += 1;
  }
  return count;
}

/** Reaches an embedder; `text` absent: that of remit.yaml. Throws as `resolveEmbedder`. */
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
    // Vectors of texts without their prefix do not compare with those of texts that have it.
    vectors: prefixes === undefined ? choice.ref : `${choice.ref} prefixed`,
    providers: resolved.providers,
    priceOf(texts) {
      if (provider === undefined) return 0;
      const tokens = texts.reduce((sum, each) => sum + Math.ceil(each.length / CHARS_A_TOKEN), 0);
      return tokens * (provider.price ?? DEAREST).input / MILLION;
    },
    async embed(plain, label, queries): Promise<Embedded> {
      const texts = plain.map((each, n) =>
        `${(n < queries ? prefixes?.query : prefixes?.passage) ?? ""}${each}`
      );
      const all = { vectors: new Array<number[]>(), inputTokens: 0, money: 0 };
      for (let at = 0; at < texts.length;) {
        const some = texts.slice(at, at + batchOf(texts.slice(at), tokens));
        const began = powers.environment.now();
        const answer = Answer.safeParse(
          await link.ask("embed", toJson({ model: choice, texts: some, label })),
        );
        if (!answer.success || answer.data.vectors.length !== some.length) {
          throw new Fault("upstream", "Cannot embed: the kernel's answer does not read");
        }
        // A slow machine gets small requests, which end within their time; a quick one few.
        const factor = BATCH_MS / Math.max(1, powers.environment.now() - began);
        const next = tokens * Math.min(2, Math.max(0.5, factor));
        tokens = Math.min(TOKENS.most, Math.max(TOKENS.least, Math.round(next)));
        all.vectors.push(...answer.data.vectors);
        all.inputTokens += answer.data.inputTokens;
        all.money += answer.data.money;
        at += some.length;
      }
      return all;
    },
    close: () => link.close(),
  });
}
