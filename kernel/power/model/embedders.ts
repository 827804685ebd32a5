/**
 * Vectors for texts of a process: the embedder is judged for the label of the texts before they go to
 * it, wherever it runs, and what leaves this machine is paced and on record as inferences are.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import type { Embeddings, ModelInfo } from "../../../contracts/model/model.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import type { ModelChoice } from "../../../contracts/task/task.ts";
import { governed, type GovernParts } from "./governed_model.ts";
import type { OpenModel } from "./services.ts";

/** Texts of one request; the services take no more. */
const MAX_TEXTS = 256;

/** Whose texts they are, and how confidential. */
export interface EmbedOptions {
  /** As it is now. */
  readonly row: GovernParts["row"] & Pick<ProcessRow, "profile">;
  /** The highest label of the texts; the process' own counts too. */
  readonly label: Label;
  readonly signal: AbortSignal;
  /** It waits for the provider's rate no more: the time for an answer begins. */
  readonly onEntered?: () => void;
}

/** An embedder in use by one holder. */
export interface HeldEmbedder {
  readonly info: ModelInfo;
  /**
   * Vectors of at most 256 texts, in their order. Rejects with `clearance` where the texts are more
   * confidential than the embedder is cleared for, `refused` where the session may not use it at all,
   * and as the service does. The caller charges its budget with `inputTokens`.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Embeddings>;
  release(): void;
}

/** What {@link makeEmbedders} is handed. */
export interface EmbeddersParts extends Pick<GovernParts, "rates" | "log" | "powers" | "egress"> {
  /** As of the model services. */
  provide(choice: ModelChoice): Promise<OpenModel>;
  /** Why a session of this profile, with texts of this label, may not use the model; undefined when it may. */
  modelRefused(
    row: Pick<ProcessRow, "profile" | "label">,
    model: { readonly ref: string; readonly remote: boolean; readonly host?: string },
  ): string | undefined;
}

/** Finds or starts embedders. */
export interface Embedders {
  /** Rejects as the model services, and with `invalidInput` for a model that makes text. */
  provide(choice: ModelChoice): Promise<HeldEmbedder>;
}

const KINDS: ReadonlySet<string> = new Set(["gguf-embed", "openai-embed", "ollama-embed"]);

/** Makes the embedders of a kernel. */
export function makeEmbedders(parts: EmbeddersParts): Embedders {
  return Object.freeze<Embedders>({
    async provide(choice) {
      const kind = choice.ref.split(":", 1)[0] ?? "";
      if (!KINDS.has(kind)) {
        throw new Fault(
          "invalidInput",
          `Cannot embed with "${choice.ref}": choose one of ${[...KINDS].join(", ")}`,
        );
      }
      return held(choice, await parts.provide(choice), parts);
    },
  });
}

function held(choice: ModelChoice, model: OpenModel, parts: EmbeddersParts): HeldEmbedder {
  const { host } = model.plan;
  // Where text goes is what the kernel gave the service, not what the service says.
  const sink = {
    ref: choice.ref,
    remote: host !== undefined,
    ...(host === undefined ? {} : { host }),
  };
  const refusedAt = (row: EmbedOptions["row"], label: Label): string | undefined =>
    parts.modelRefused({ profile: row.profile, label }, sink);

  return Object.freeze<HeldEmbedder>({
    info: model.info,
    async embed(texts, { row, label: ofTexts, signal, onEntered }) {
      if (texts.length > MAX_TEXTS) {
        throw new Fault("tooLarge", `Cannot embed: more than ${MAX_TEXTS} texts at once`);
      }
      const label = mixLabel(row.label, ofTexts);
      const why = refusedAt(row, label);
      if (why !== undefined) {
        const never = refusedAt(row, "public") !== undefined;
        throw new Fault(never ? "refused" : "clearance", `Cannot embed: ${why}`);
      }
      if (texts.length === 0) return { vectors: [], inputTokens: 0 };
      const { rates, log, powers, egress } = parts;
      const own = governed(model, {
        ...{ rates, log, powers, egress, row: { ...row, label } },
        modelRefused: () => refusedAt(row, label),
      });
      return await own.embed(texts, signal, onEntered);
    },
    release: () => model.release(),
  });
}
