/** The kernel's own steps to open an accelerated model, in this process: plan, checked weights, namespace. @module */
import { createHash } from "node:crypto";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { nativeAddonOf, type NativeBuild } from "../../../contracts/model/model_config.ts";
import { makeChildren } from "../../../kernel/core/child/children.ts";
import { realPowers } from "../../../kernel/main_powers.ts";
import { makeModelServices, type OpenModel } from "../../../kernel/power/model/services.ts";
import { makeSpawnPowers } from "../../../kernel/core/start/spawn_powers.ts";
import { WEIGHTS_POWERS } from "../../../kernel/power/model/weights_powers.ts";
import { programs, provideAddon, provideWorkshop } from "./native_process.ts";

/** Opens weights as a task would, with its `accelerated` and the rest of the configuration. */
export async function openAsKernel(
  weights: Uint8Array,
  { accelerated, ...more }: {
    readonly accelerated: NativeBuild;
    readonly gpuLayers?: number;
  },
  { env = {}, addon }: {
    /** Set in the namespace: makes a driver simulate a card. */
    readonly env?: Readonly<Record<string, string>>;
    /** Absolute path of the processor's addon; absent: it and the requested build are fetched. */
    readonly addon?: string;
  } = {},
): Promise<{ readonly open: OpenModel } & AsyncDisposable> {
  const { folder, bundle } = await provideWorkshop();
  if (addon === undefined) await provideAddon(accelerated);
  const sha256 = createHash("sha256").update(weights).digest("hex");
  await Deno.writeFile(`${folder}/${sha256}.gguf`, weights, { mode: 0o600 });
  const spawn = makeSpawnPowers();
  const set = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  const none = "";
  const children = await makeChildren({
    config: {
      programs: programs(),
      bundles: { native: bundle } as KernelConfig["bundles"],
      dir: folder,
      runtime: folder,
      mcpTrees: folder,
      denoDir: `${folder}/dd`,
      brokerSockets: [`${folder}/none`],
      pool: { workers: 0, plugins: 0 },
      browser: { engine: "static", program: none },
    },
    powers: realPowers(undefined),
    spawn: {
      ...spawn,
      start: (line) =>
        spawn.start({
          ...line,
          args: line.args.flatMap((arg) => arg === "--remount-ro" ? [...set, arg] : [arg]),
        }),
    },
  });
  const services = makeModelServices({
    children,
    plans: {
      weights: folder,
      addon: addon ?? `${await provideAddon()}/llama-addon.node`,
      secret: () => undefined,
    },
    weights: WEIGHTS_POWERS,
    powers: realPowers(undefined),
  });
  const close = async (): Promise<void> => {
    await services.close();
    await children.close();
  };
  const gpu = accelerated === "cpu" ? {} : { gpu: accelerated };
  try {
    const open = await services.provide({
      ref: "gguf:tiny",
      config: JSON.stringify({
        ...{ name: "tiny", weights: sha256, bytes: weights.length, engine: "native" },
        ...{ ...gpu, ...more },
      }),
    });
    return { open, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A folder that holds the processor's addon under the names of all builds: none of them knows a card. */
export async function cardlessAddon(): Promise<string> {
  const { folder } = await provideWorkshop();
  const from = await provideAddon();
  const addon = `${folder}/native/llama-addon.node`;
  for (const build of ["cpu", "cuda", "vulkan", "npu"] as const) {
    const path = nativeAddonOf(addon, build);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    for (const { name, isFile } of Deno.readDirSync(from)) {
      const to = `${path.slice(0, path.lastIndexOf("/"))}/${name}`;
      if (isFile) await Deno.copyFile(`${from}/${name}`, to).catch(() => undefined);
    }
  }
  return addon;
}
