/** What is particular of Ollama's refusals: the words that help. @module */
import { Fault } from "../../../contracts/fault.ts";
import { again } from "../retry.ts";

const NO_MODEL = /has no model/;
const TOO_LONG = /longer than the context length/i;
const NOBODY = /nothing listens/;

/** Ollama's fault in words that say what to do; any other error as it is. */
export function ollamaFault(error: unknown, model: string): unknown {
  if (!(error instanceof Fault)) return error;
  if (error.code === "notFound" && NO_MODEL.test(error.message)) {
    return new Fault(
      "notFound",
      `Cannot use model ${
        JSON.stringify(model)
      }: Ollama does not have it; run \`ollama pull ${model}\``,
      { cause: error },
    );
  }
  if (error.code === "invalidInput" && TOO_LONG.test(error.message)) {
    return new Fault("contextOverflow", error.message, { cause: error });
  }
  if (error.code === "upstream" && NOBODY.test(error.message)) {
    const { code, message, detail } = error;
    return new Fault(code, `${message} Start it with \`ollama serve\``, {
      cause: error,
      ...(detail === undefined ? {} : { detail }),
    });
  }
  return error;
}

/** An answer that is not what Ollama writes; `torn`: another try may bring it whole. */
export function malformed(why: string, cause?: unknown, torn = false): Fault {
  return new Fault("upstream", `Cannot infer: Ollama's answer ${why}`, {
    cause,
    ...(torn ? { detail: again() } : {}),
  });
}
