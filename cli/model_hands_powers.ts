/** The hands of the commands over models, with this process's own rights. @module */
import type { Screen } from "./hands.ts";
import { makeNativeEngine } from "./model_engine_powers.ts";
import type { ModelHands, ModelProgram } from "./model_hands.ts";
import { makeModelHttp } from "./model_http_powers.ts";
import { provideModelProgram } from "./model_programs_powers.ts";
import { makeWeightsDisk } from "./weights_powers.ts";

/** Makes them. `cache` is asked for when it is first needed: without HOME there is none. */
export function makeModelHands(
  parts: {
    readonly home: string;
    readonly cache: () => string;
    readonly screen: Pick<Screen, "say" | "paint">;
  },
): ModelHands {
  const { screen } = parts;
  return Object.freeze({
    http: makeModelHttp(),
    weights: makeWeightsDisk(),
    engine: makeNativeEngine(parts),
    provideProgram: (program: ModelProgram) =>
      provideModelProgram(program, {
        home: parts.home,
        cache: parts.cache(),
        onBuild: () =>
          screen.say(
            screen.paint.dim(
              "remit  building what speaks with this model, once for this version …",
            ),
          ),
      }),
  });
}
