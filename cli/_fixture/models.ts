/** Powers of models for tests: real weights on a real disk, real HTTP; no server listens, nothing is built. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { NativeBuild } from "../../contracts/model/mod.ts";
import type { NativeEngine } from "../../models/weights/mod.ts";
import type { ModelPowers, ModelProgram } from "../model/powers.ts";
import { makeModelHttp } from "../model/http_powers.ts";
import { makeWeightsDisk } from "../../models/weights/host/files_powers.ts";

/** An engine that was never fetched. */
export const NO_ENGINE: NativeEngine = Object.freeze({
  offer: undefined,
  found: () => undefined,
  fetch: () => Promise.reject(new Fault("unavailable", "Cannot fetch: a test has no network")),
});

/** Makes the powers. `ollama` is the port of a server in place of the usual port. */
export function fakeModels(
  parts: {
    /** All builds. */
    readonly engine?: NativeEngine;
    readonly engines?: Readonly<Partial<Record<NativeBuild, NativeEngine>>>;
    readonly ollama?: number;
  } = {},
): ModelPowers & { readonly built: ModelProgram[] } {
  const http = makeModelHttp();
  const built: ModelProgram[] = [];
  const moved = (url: string): string =>
    parts.ollama === undefined ? url : url.replace(":11434", `:${parts.ollama}`);
  return Object.freeze(
    {
      built,
      http: {
        get: (url, options) => http.get(moved(url), options),
        canConnect: ({ host, port }, ms) =>
          port === 11_434
            ? parts.ollama === undefined
              ? Promise.resolve(false)
              : http.canConnect({ host, port: parts.ollama }, ms)
            : http.canConnect({ host, port }, ms),
      },
      weights: makeWeightsDisk(),
      engine: (build) => parts.engines?.[build] ?? parts.engine ?? NO_ENGINE,
      vectors: async () => await import("../../models/embed/mod.ts"),
      provideProgram(program): Promise<void> {
        built.push(program);
        return Promise.resolve();
      },
    } satisfies ModelPowers & { built: ModelProgram[] },
  );
}
