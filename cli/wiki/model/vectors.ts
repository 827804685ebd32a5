/** Vectors for a wiki, from the embedder of remit.yaml or the built-in one, through the kernel. Issue 5. @module */
import { join } from "node:path";
import * as z from "zod";
import { DEAREST, Fault, type Label, toJson } from "../../../contracts/mod.ts";
import type { Command } from "../../command.ts";
import { loadConfig } from "../../config/files.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { modelParts } from "../../model/choice.ts";
import { resolveEmbedder } from "../../model/embedder.ts";
import type { AskedProvider } from "../../model/part.ts";
import type { WikiPlace } from "../place.ts";

/** Something that makes vectors. */
export interface OpenEmbedder {
  /** Names the vectors: those of another one do not compare. */
  readonly ref: string;
  readonly providers: readonly AskedProvider[];
  /** US dollars that vectors of these texts may cost at most, as far as known. */
  priceOf(texts: readonly string[]): number;
  embed(texts: readonly string[], label: Label): Promise<Embedded>;
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
export const MOST_TEXTS = 256;

/** Reaches an embedder; `text` absent: that of remit.yaml, else the built-in one. Throws as `resolveEmbedder`. */
export async function openEmbedder(
  command: Command,
  text: string | undefined,
): Promise<OpenEmbedder> {
  const { hands, places } = command;
  const config = loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] });
  const part = await resolveEmbedder(text ?? config.embedder, {
    ...modelParts(command, config),
    lexicon: hands.models.lexicon,
  });
  const { choice, lend, program, provider } = part;
  const resolved = {
    choice,
    lends: lend === undefined ? [] : [lend],
    programs: program === undefined ? [] : [program],
    providers: provider === undefined ? [] : [provider],
  };
  const link = await kernelFor(command, { config, mounts: [], resolved });
  return Object.freeze<OpenEmbedder>({
    ref: choice.ref,
    providers: resolved.providers,
    priceOf(texts) {
      if (provider === undefined) return 0;
      const tokens = texts.reduce((sum, each) => sum + Math.ceil(each.length / CHARS_A_TOKEN), 0);
      return tokens * (provider.price ?? DEAREST).input / MILLION;
    },
    async embed(texts, label): Promise<Embedded> {
      const all = { vectors: new Array<number[]>(), inputTokens: 0, money: 0 };
      for (let at = 0; at < texts.length; at += MOST_TEXTS) {
        const some = texts.slice(at, at + MOST_TEXTS);
        const answer = Answer.safeParse(
          await link.ask("embed", toJson({ model: choice, texts: some, label })),
        );
        if (!answer.success || answer.data.vectors.length !== some.length) {
          throw new Fault("upstream", "Cannot embed: the kernel's answer does not read");
        }
        all.vectors.push(...answer.data.vectors);
        all.inputTokens += answer.data.inputTokens;
        all.money += answer.data.money;
      }
      return all;
    },
    close: () => link.close(),
  });
}

/** The embedder that a wiki's vectors were last made with, as the operator called it. */
export function wikiEmbedder(
  { hands }: Pick<Command, "hands">,
  place: WikiPlace,
): string | undefined {
  const bytes = hands.disk.read(join(place.state, "embedder"));
  const text = bytes === undefined ? "" : new TextDecoder().decode(bytes).trim();
  return text === "" ? undefined : text;
}

/** Keeps it. */
export function keepEmbedder(
  { hands }: Pick<Command, "hands">,
  place: WikiPlace,
  text: string,
): void {
  hands.disk.write(join(place.state, "embedder"), `${text}\n`);
}
