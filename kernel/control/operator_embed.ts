/** Vectors for texts that the operator gives themselves: no process asks, and no budget is charged. @module */
import {
  DEFAULT_LIMITS,
  Fault,
  type Label,
  type ModelChoice,
  Pid,
  type Powers,
  SessionId,
  TaskId,
  type Vectors,
} from "../../contracts/mod.ts";
import { type EmbedOptions, makeEmbedders } from "../model/embedders.ts";
import { makeModelCost } from "../model/cost.ts";

/** What {@link makeOperatorEmbed} is handed. */
export type OperatorEmbedParts = Parameters<typeof makeEmbedders>[0] & {
  readonly powers: Pick<Powers, "id" | "after">;
};

/** Texts, what makes vectors of them, and how confidential they are. */
export interface OperatorEmbed {
  readonly model: ModelChoice;
  /** At most 256. */
  readonly texts: readonly string[];
  readonly label: Label;
}

/**
 * Makes the control operation `embed`. The texts are judged by their label, wait for the provider's
 * rate, and are on record before they leave, in a chain of the operator's own: `audit query` shows it
 * under a task's id that no task has. Rejects as {@link makeEmbedders}, and `timedOut`.
 */
export function makeOperatorEmbed(
  parts: OperatorEmbedParts,
): (asked: OperatorEmbed) => Promise<Vectors> {
  const { powers } = parts;
  const embedders = makeEmbedders(parts);
  const row: EmbedOptions["row"] = Object.freeze({
    task: TaskId.parse(powers.id("t")),
    session: SessionId.parse(powers.id("s")),
    ...{ principal: "operator", profile: "operator", conversation: "main", turn: 0 },
    ...{ pid: Pid.parse(1), label: "public", colour: "BLUE" },
  });
  return async ({ model, texts, label }) => {
    const embedder = await embedders.provide(model);
    const late = new AbortController();
    let disarm = (): void => undefined;
    try {
      const { info } = embedder;
      const options = {
        ...{ row, label, signal: late.signal },
        // Waiting for a provider's rate is not its time.
        onEntered: () => {
          disarm = powers.after(DEFAULT_LIMITS.generationTimeoutMs, () => late.abort());
        },
      };
      const { vectors, inputTokens } = await embedder.embed(texts, options);
      const money = makeModelCost(info.price).of({ inputTokens, outputTokens: 0 });
      return { model: info.id, vectors: vectors.map((each) => [...each]), inputTokens, money };
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw new Fault("timedOut", "Cannot embed: its time is up", { cause: error });
    } finally {
      disarm();
      embedder.release();
    }
  };
}
