/** Model services' programs, each built when a model first needs it: most people use one kind. @module */
import { join } from "node:path";
import type { KernelConfig } from "../contracts/mod.ts";
import { buildProgram, digestSources } from "./bundles_powers.ts";

/** The services that are not part of every build. */
export type ModelProgram = "remote" | "local" | "native";

const PROGRAMS: Readonly<Record<ModelProgram, string>> = {
  remote: "models/remote/main.ts",
  local: "models/local/main.ts",
  native: "models/native/main.ts",
};

/** Where they lie once they are built; `digest` is that of the sources, hex. */
export function modelPrograms(
  cache: string,
  digest: string,
): Pick<KernelConfig["bundles"], ModelProgram> {
  const path = (kind: ModelProgram): string =>
    join(cache, `${kind}-${digest.slice(0, 32)}`, `${kind}.js`);
  return { remote: path("remote"), local: path("local"), native: path("native") };
}

/** Where llama.cpp's native addon lies once `remit model accelerate` has fetched it. */
export function nativeAddon(cache: string): string {
  return join(cache, "native", "llama-addon.node");
}

/**
 * Builds the program of a service if these sources have none yet: whole or not at all.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideModelProgram(
  kind: ModelProgram,
  parts: { readonly home: string; readonly cache: string; readonly onBuild: () => void },
): Promise<void> {
  const file = modelPrograms(parts.cache, digestSources(parts.home))[kind];
  await buildProgram({
    ...parts,
    file,
    entry: PROGRAMS[kind],
    // Native code and providers' packages take their Node.js forms; WASM runs without that layer.
    platform: kind === "local" ? "browser" : "deno",
  });
}
