/** Finds the label that fits a text by their vectors. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Classifier } from "../../contracts/model_aux.ts";
import type { TextEmbedder } from "../../contracts/model.ts";
import { cosine } from "./cosine.ts";
import { embedAll } from "./embed_all.ts";

const FEWEST = 2;
const MOST = 64;
/** A label that is nearer by this much is e times as likely. */
const STEP = 0.1;

/**
 * Makes a classifier without training: scores of a text sum to 1, and are all the same where it says
 * nothing. Labels serve best as short descriptions ("a complaint about a delivery"). `classify` rejects
 * with `invalidInput` for fewer than 2 or more than 64 labels, and as the embedder does.
 */
export function makeClassifier(embedder: Pick<TextEmbedder, "embed">): Classifier {
  return Object.freeze<Classifier>({
    async classify(text, labels, { signal }): Promise<readonly number[]> {
      if (labels.length < FEWEST || labels.length > MOST) {
        throw new Fault(
          "invalidInput",
          `Cannot classify: ${labels.length} labels, and ${FEWEST} to ${MOST} are possible`,
        );
      }
      const [subject, ...vectors] = await embedAll(embedder, [text, ...labels], signal);
      return shares(vectors.map((vector) => cosine(subject ?? vector, vector)));
    },
  });
}

function shares(nearness: readonly number[]): readonly number[] {
  const nearest = Math.max(...nearness);
  const weights = nearness.map((each) => Math.exp((each - nearest) / STEP));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}
