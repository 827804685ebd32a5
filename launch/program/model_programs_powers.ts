/** Programs of model services, each built when a model first needs it: most people use one kind. @module */
import { join } from "node:path";
import { Fault, WASM_PAGES } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { buildProgram } from "./bundles_powers.ts";
import { provideCache } from "./program_cache_powers.ts";
import { digestSources } from "./source_digest_powers.ts";

/** The services that not every build includes. */
export type ModelProgram = "remote" | "local" | "native";

const PROGRAMS: Readonly<Record<ModelProgram, string>> = {
  remote: "models/remote/main.ts",
  local: "models/local/main.ts",
  native: "models/native/main.ts",
};

/** Paths of the programs, built or not; `digest` is that of the sources, hex. */
export function modelPrograms(
  cache: string,
  digest: string,
): Pick<KernelConfig["bundles"], ModelProgram> {
  const path = (kind: ModelProgram): string =>
    join(cache, `${kind}-${digest.slice(0, 32)}`, `${kind}.js`);
  return { remote: path("remote"), local: path("local"), native: path("native") };
}

/** A harness ends with the first digits of two digests: of its sources and of its rules. */
const HARNESS = /-([0-9a-f]{12})-[0-9a-f]{12}$/;

/** Whether a program was built from sources whose digest begins so. */
function isBuilt(kind: ModelProgram, cache: string, beginning: string): boolean {
  try {
    return Deno.readDirSync(cache).some(({ name }) => name.startsWith(`${kind}-${beginning}`));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Builds the program of a service if these sources have none yet: whole or not at all.
 *
 * @throws Fault `unavailable` when it does not build, `conflict` for a running kernel of other sources that has none: that
 * kernel looks for a program of its own sources
 */
export async function provideModelProgram(
  kind: ModelProgram,
  parts: {
    readonly home: string;
    readonly cache: string;
    /** Harness of the running kernel that will start the program; absent: a kernel of these sources. */
    readonly harness?: string;
    readonly onBuild: () => void;
  },
): Promise<void> {
  const digest = digestSources(parts.home);
  const [, beginning = ""] = HARNESS.exec(parts.harness ?? "") ?? [];
  if (!digest.startsWith(beginning)) {
    if (isBuilt(kind, parts.cache, beginning)) return;
    throw new Fault(
      "conflict",
      "Cannot use this model: a kernel of another version is at work in this state, and has no " +
        'program for it; let its tasks finish (see "remit ps"), or end it with "remit stop", and ' +
        "try again",
    );
  }
  const file = modelPrograms(parts.cache, digest)[kind];
  await buildProgram({
    ...parts,
    file,
    entry: PROGRAMS[kind],
    // Native code and providers' packages need their Node.js forms; WASM runs without a Node.js layer.
    platform: kind === "local" ? "browser" : "deno",
  });
  // The pages of a local model depend on its weights.
  if (kind !== "local") await provideCache({ bundle: file, pages: WASM_PAGES[kind] });
}
