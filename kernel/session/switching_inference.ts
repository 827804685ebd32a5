/** Inferences before each of which the process may be given another model. @module */
import { Fault } from "../../contracts/mod.ts";
import type { Inference } from "./inference.ts";
import type { ProcessModel } from "./process_model.ts";

/**
 * The same inferences: before each, a switch that is due is made, and `switched` called, which draws
 * the worker another handle; after each, the model's rule hears what it proposed.
 */
export function switchingInference(
  infer: Inference["infer"],
  model: Pick<ProcessModel, "switchIfDue" | "proposed" | "failed">,
  switched: () => void,
): Inference["infer"] {
  return async (body, signal) => {
    if (await model.switchIfDue()) switched();
    try {
      const response = await infer(body, signal);
      model.proposed(response.message.toolCalls ?? []);
      return response;
    } catch (error) {
      if (error instanceof Fault) model.failed(error.code);
      throw error;
    }
  };
}
