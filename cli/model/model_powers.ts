/** The powers of the commands over models, with this process's own rights. @module */
import type { NativeBuild } from "../../contracts/model/mod.ts";
import type { Screen } from "../powers.ts";
import { makeNativeEngine, makeWeightsDisk } from "../../models/weights/host/mod.ts";
import type { ModelPowers, ModelProgram } from "./powers.ts";
import { makeModelHttp } from "./http_powers.ts";
import { provideModelProgram } from "../../launch/program/model_programs_powers.ts";

/** Makes the powers over models; `cache` is called at first use, since it needs HOME. */
export function makeModelPowers(
  parts: {
    readonly home: string;
    readonly cache: () => string;
    readonly screen: Pick<Screen, "say" | "paint">;
    readonly vectors: ModelPowers["vectors"];
  },
): ModelPowers {
  const { screen } = parts;
  const say = (text: string): void => screen.say(screen.paint.dim(`remit  ${text}`));
  return Object.freeze({
    http: makeModelHttp(),
    weights: makeWeightsDisk(),
    engine: (build: NativeBuild) => makeNativeEngine({ ...parts, build }),
    provideProgram: (program: ModelProgram, harness?: string) =>
      provideModelProgram(program, {
        ...(harness === undefined ? {} : { harness }),
        home: parts.home,
        cache: parts.cache(),
        onBuild: () => say("building what speaks with this model, once for this version …"),
      }),
    vectors: parts.vectors,
  });
}
