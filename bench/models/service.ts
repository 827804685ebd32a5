/** Real model services and what they are asked, for benches. @module */
import { createHash } from "node:crypto";
import { InferenceRequest } from "../../contracts/model/mod.ts";
import type { ToolDescriptor } from "../../contracts/tool/mod.ts";
import { realPowers } from "../../kernel/_fixture/small_children.ts";
import { makeModelServices, type ModelServices } from "../../kernel/power/model/services.ts";
import { WEIGHTS_POWERS } from "../../kernel/power/model/weights_powers.ts";
import { ownTools } from "../../models/grammar/_fixture/own_tools.ts";
import { makeNativeEngine } from "../../models/weights/host/engine_powers.ts";
import { type BenchWorld, makeBenchWorld } from "../world.ts";

/** Model services as the kernel starts them. */
export interface BenchModels extends AsyncDisposable {
  readonly world: BenchWorld;
  readonly services: ModelServices;
  /** Puts weights into the store, and gives the configuration that names them. */
  keep(weights: Uint8Array, engine: "wasm" | "native"): Promise<string>;
  /** The folder of the native engine; undefined where it was not fetched. */
  readonly addon: string | undefined;
  /** Operating-system numbers of the services, in the order of their start. */
  readonly pids: readonly number[];
}

/** Bundles the programs of these roles; seconds. */
export async function makeBenchModels(
  roles: readonly ("model" | "remote" | "local" | "native")[],
): Promise<BenchModels> {
  const world = await makeBenchWorld(roles);
  const store = `${world.dir}/models`;
  await Deno.mkdir(store);
  const real = await world.children();
  const pids: number[] = [];
  const addon = fetchedAddon();
  const services = makeModelServices({
    children: {
      async model(options) {
        const child = await real.model(options);
        pids.push(child.osPid);
        return child;
      },
    },
    plans: {
      weights: store,
      addon: addon === undefined ? "" : `${addon}/llama-addon.node`,
      secret: () => undefined,
    },
    weights: WEIGHTS_POWERS,
    powers: realPowers(),
  });
  return {
    ...{ world, services, addon, pids },
    async keep(weights, engine): Promise<string> {
      const digest = createHash("sha256").update(weights).digest("hex");
      await Deno.writeFile(`${store}/${digest}.gguf`, weights, { mode: 0o600 });
      return JSON.stringify({ name: "tiny", weights: digest, bytes: weights.length, engine });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await services.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Where the tests, or a person, fetched it to; nothing is fetched here. */
function fetchedAddon(): string | undefined {
  const tests = new URL("../../.build/native_test", import.meta.url).pathname;
  const own = `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/remit`;
  return [tests, own].map((folder) => makeNativeEngine({ cache: () => folder }).found())
    .find((folder) => folder !== undefined);
}

/** A question to a model, with these tools. */
export function question(
  content: string,
  more: { readonly tools?: readonly ToolDescriptor[] } & Partial<Omit<InferenceRequest, "tools">> =
    {},
): InferenceRequest {
  return InferenceRequest.parse({
    messages: [{
      role: "user",
      content,
      provenance: { origin: "person", colour: "BLUE", label: "internal" },
    }],
    tools: [],
    maxTokens: 1_024,
    nonce: "n",
    ...more,
  });
}

/** The tools that an agent on a workspace has. */
export function workspaceTools(): readonly ToolDescriptor[] {
  return ownTools().slice(0, 12);
}

/** Never aborted. */
export const NEVER: AbortSignal = new AbortController().signal;
