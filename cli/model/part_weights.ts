/** Resolves a model with local weights, by name in the store or by path. @module */
import { Fault, present } from "../../contracts/base/mod.ts";
import { LocalConfig, type NativeBuild } from "../../contracts/model/mod.ts";
import type { ModelSettings } from "./alias.ts";
import {
  accelerateCommand,
  findWeights,
  listWeights,
  needSignature,
  pinnedWeights,
  type StoredWeights,
} from "../../models/weights/mod.ts";
import type { ModelName } from "./name.ts";
import { knobs, type ModelFlags, type ModelPart, type ModelParts, parseSettings } from "./part.ts";
import { absolute } from "../../launch/disk/places.ts";

/** Bytes of weights in WASM, which addresses 4 GiB: the conversation must fit beside them. */
const MAX_IN_WASM = 3.5 * 1024 ** 3;

const gib = (bytes: number): string => (bytes / 1024 ** 3).toFixed(1);

async function weightsOf(
  text: string,
  name: Extract<ModelName, { readonly kind: "gguf" | "stored" }>,
  parts: ModelParts,
): Promise<StoredWeights> {
  const called = name.kind === "stored" ? name.name : name.what;
  const stored = findWeights(parts.disk, parts.places, called);
  if (stored !== undefined) return stored;
  if (name.kind === "gguf") {
    parts.prepare();
    return await pinnedWeights(parts, absolute(parts.environment, called));
  }
  const there = [
    ...Object.keys(parts.aliases),
    ...listWeights(parts.disk, parts.places).map((each) => each.name),
  ];
  throw new Fault(
    "notFound",
    `Cannot use model "${text}": there is no model of that name in remit.yaml or in the store${
      there.length === 0 ? "" : ` (there is ${there.slice(0, 20).join(", ")})`
    }; a provider's is written KIND:NAME, such as ollama:${called}`,
  );
}

/** The build of the native engine for an entry; undefined: it runs in WASM. */
function buildOf(text: string, { accelerated, gpuLayers }: ModelSettings): NativeBuild | undefined {
  const build = accelerated === true ? "cpu" : accelerated === false ? undefined : accelerated;
  if (gpuLayers === undefined || (build !== undefined && build !== "cpu")) return build;
  throw new Fault(
    "invalidInput",
    `Cannot use model "${text}": "gpuLayers" needs "accelerated: cuda" or "accelerated: vulkan"`,
  );
}

/**
 * Resolves weights; a path used for the first time is pinned.
 *
 * @throws Fault `notFound`, `refused` for weights that are not what was pinned or signed wrongly,
 * `unavailable` without the native engine that remit.yaml asks for
 */
export async function weightsPart(
  text: string,
  name: Extract<ModelName, { readonly kind: "gguf" | "stored" }>,
  settings: ModelSettings,
  parts: ModelParts,
  flags: ModelFlags,
): Promise<ModelPart> {
  const weights = await weightsOf(text, name, parts);
  needSignature(weights.name, weights, parts.modelKeys);
  const build = buildOf(text, settings);
  const native = build !== undefined;
  if (!native && weights.bytes > MAX_IN_WASM) {
    throw new Fault(
      "tooLarge",
      `Cannot use model "${text}": its weights are ${gib(weights.bytes)} GiB, and without the ` +
        `native engine at most ${gib(MAX_IN_WASM)} GiB can be used; run "remit model accelerate" ` +
        `and write "accelerated: true" for this model in remit.yaml, or take smaller weights`,
    );
  }
  if (native && parts.models.engine(build).found() === undefined) {
    throw new Fault(
      "unavailable",
      `Cannot use model "${text}" accelerated: the native engine was not fetched${
        build === "cpu" ? "" : ` for ${build}`
      }; get it with "${accelerateCommand(build)}", or take "accelerated" out of remit.yaml`,
    );
  }
  const { gpuLayers, template, callFirst } = settings;
  const { contextTokens, dialect } = weights;
  const config = parseSettings(text, LocalConfig, {
    name: weights.name,
    weights: weights.sha256,
    bytes: weights.bytes,
    engine: native ? "native" : "wasm",
    ...present({ gpu: build === "cpu" ? undefined : build, gpuLayers, template, callFirst }),
    ...present({ contextTokens, dialect }),
    ...knobs(settings, flags),
  });
  return {
    choice: { ref: `gguf:${weights.name}`, config: JSON.stringify(config) },
    program: native ? "native" : "local",
  };
}
