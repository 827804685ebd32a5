/**
 * Embeddings for a process: the embedder is judged by the label of the texts before they are sent,
 * wherever it runs, and requests that leave this machine are paced and logged like inferences. Used
 * by kernel/control/operator_ask.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import type { Embeddings, ModelInfo } from "../../../contracts/model/model.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import type { ModelChoice } from "../../../contracts/task/task.ts";
import { governed, type GovernParts } from "./governed_model.ts";
import type { OpenModel } from "./services.ts";

/** Texts of one request, the services' limit. */
const MAX_TEXTS = 256;

/** The process of the texts, and their label. */
export interface EmbedOptions {
  /** The current row. */
  readonly row: GovernParts["row"] & Pick<ProcessRow, "profile">;
  /** The highest label of the texts; the process's own label counts too. */
  readonly label: Label;
  readonly signal: AbortSignal;
  /** Called when the wait for the provider's rate ends and the time for an answer begins. */
  readonly onEntered?: () => void;
}

/** An embedder in use by one holder. */
export interface HeldEmbedder {
  readonly info: ModelInfo;
  /**
   * Vectors of at most 256 texts, in order. Rejects with `clearance` where the embedder is not
   * cleared for the label, `refused` where the session may not use it at all, and like the service.
   * The caller charges its budget with `inputTokens`.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Embeddings>;
  release(): void;
}

/** The services, the policy, the pacing and the budgets of embedders. */
export interface EmbeddersParts extends Pick<GovernParts, "rates" | "log" | "powers" | "egress"> {
  /** Opens a model service. */
  provide(choice: ModelChoice): Promise<OpenModel>;
  /** Why a session of this profile, with texts of this label, may not use the model; undefined where it may. */
  modelRefused(
    row: Pick<ProcessRow, "profile" | "label">,
    model: { readonly ref: string; readonly remote: boolean; readonly host?: string },
  ): string | undefined;
}

/** Finds or starts embedders. */
export interface Embedders {
  /** Rejects like the model services, and with `invalidInput` for a model that generates text. */
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
  // The destination is the kernel's own knowledge, never the service's claim.
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
