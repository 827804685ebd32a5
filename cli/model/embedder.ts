/** `embedder:` of remit.yaml becomes what a service of vectors is opened with. @module */
import { join } from "node:path";
import { Fault, LexicalConfig } from "../../contracts/mod.ts";
import { followAliases } from "./alias.ts";
import type { ModelHands } from "./hands.ts";
import { parseModelName } from "./name.ts";
import type { ModelPart, ModelParts } from "./part.ts";
import { providerPart } from "./part_provider.ts";
import { weightsPart } from "./part_weights.ts";
import { weightsPath } from "./weights/store.ts";

/** The built-in embedder, which has no settings. */
const LEXICAL = "lexical";

/** What references to embedders are resolved with. */
export interface EmbedderParts extends ModelParts {
  readonly lexicon: ModelHands["lexicon"];
}

/**
 * Resolves the embedder: a reference or name as for models (`openai:NAME`, or `openai-embed:NAME`), or
 * undefined for the built-in one.
 *
 * @throws Fault as `resolveModel`; `invalidInput` for what makes no vectors
 */
export async function resolveEmbedder(
  text: string | undefined,
  parts: EmbedderParts,
): Promise<ModelPart> {
  if (text === undefined || text === LEXICAL) return await lexicalPart(parts);
  const named = followAliases(text, parts.aliases);
  const name = parseModelName(named.ref.replace(/^(openai|ollama|gguf)-embed:/, "$1:"));
  if (name.kind === "scripted" || name.kind === "anthropic") {
    throw new Fault(
      "invalidInput",
      `Cannot use embedder "${text}": ${name.kind} makes no vectors; there is ${LEXICAL} (the ` +
        "built-in one), openai:NAME@URL, ollama:NAME and gguf:PATH",
    );
  }
  const part = "url" in name
    ? await providerPart(text, name, named.settings, parts, {})
    : await weightsPart(text, name, named.settings, parts, {});
  const { ref, config } = part.choice;
  return { ...part, choice: { ref: ref.replace(":", "-embed:"), config } };
}

/** The vectors come into the store once: the kernel reads nothing else. */
async function lexicalPart(parts: EmbedderParts): Promise<ModelPart> {
  const { places } = parts;
  const weights: ModelHands["weights"] = parts.models.weights;
  const { file, sha256, bytes } = await parts.lexicon();
  const path = weightsPath(places, sha256);
  if (weights.stat(path)?.bytes !== bytes) {
    parts.prepare();
    const draft = join(places.models, `.draft-${parts.around.id("w")}`);
    const copied = await weights.copy(file, draft, { onBytes: () => undefined });
    try {
      if (copied.sha256 !== sha256) {
        throw new Fault(
          "storeCorrupt",
          `Cannot use the built-in embedder: "${file}" is not what it was; remove it`,
        );
      }
      weights.keep(draft, path);
    } finally {
      parts.disk.remove(draft);
    }
  }
  const config = JSON.stringify(LexicalConfig.parse({ weights: sha256, bytes }));
  return { choice: { ref: "lexical:wordnet", config }, program: "local" };
}
