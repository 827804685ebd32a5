/** Resolves `embedder:` of remit.yaml to the choice of an embedding service. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { followAliases } from "./alias.ts";
import { parseModelName } from "./name.ts";
import type { ModelPart, ModelParts } from "./part.ts";
import { providerPart } from "./part_provider.ts";
import { weightsPart } from "./part_weights.ts";

/** How an embedder is chosen, for messages. */
const CHOOSE = '"embedder: ollama:NAME" in remit.yaml (also gguf:PATH, openai:NAME@URL), or a flag';
/** Remit's built-in embedder of earlier versions, in settings and wikis. */
const FORMER = /^lexical(?::|$)/;

/**
 * Resolves an embedder, by reference or name as for models (`openai:NAME`, or `openai-embed:NAME`).
 *
 * @throws Fault as `resolveModel`; `invalidInput` when none is chosen, for what makes no vectors, and for the
 * built-in embedder of earlier versions
 */
export async function resolveEmbedder(
  text: string | undefined,
  parts: ModelParts,
): Promise<ModelPart> {
  if (text === undefined) {
    throw new Fault("invalidInput", `Cannot make vectors: no embedder is chosen; say ${CHOOSE}`);
  }
  const named = followAliases(text, parts.aliases);
  if (FORMER.test(named.ref)) {
    throw new Fault(
      "invalidInput",
      `Cannot use embedder "${text}": Remit has no built-in one any more; choose another with ` +
        `${CHOOSE}, and make a wiki's vectors anew with "remit wiki embed"`,
    );
  }
  const name = parseModelName(named.ref.replace(/^(openai|ollama|gguf)-embed:/, "$1:"));
  if (name.kind === "scripted" || name.kind === "anthropic") {
    throw new Fault(
      "invalidInput",
      `Cannot use embedder "${text}": ${name.kind} makes no vectors; choose one with ${CHOOSE}`,
    );
  }
  const part = "url" in name
    ? await providerPart(text, name, named.settings, parts, {})
    : await weightsPart(text, name, named.settings, parts, {});
  const { ref, config } = part.choice;
  return { ...part, choice: { ref: ref.replace(":", "-embed:"), config } };
}
