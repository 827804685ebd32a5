/** An accelerated model in its real process: the kernel's own start line, bubblewrap, the real addon. @module */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { makeNativeEngine } from "../../weights/host/engine_powers.ts";
import type { Gpu, NativeBuild } from "../../../contracts/model/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import type { Json } from "../../../contracts/base/json.ts";
import { type LanguageModel, ModelInfo } from "../../../contracts/model/model.ts";
import { lineOfNative, NATIVE_WEIGHTS } from "../../../kernel/core/start/model_line.ts";
import { makeSpawnPowers } from "../../../kernel/core/start/spawn_powers.ts";
import { overPipes } from "../../../port/_fixture/piped_child.ts";
import type { Port } from "../../../port/mod.ts";
import { type Chunks, hearing, servedModel } from "../../_fixture/served_model.ts";

const HOME = new URL("../../../", import.meta.url).pathname;
/** Ignored by git; the addon is fetched once for a clone, and checked each time. */
const CACHE = `${HOME}.build/native_test`;

/** The addon's folder; fetches a missing addon. */
export async function provideAddon(build: NativeBuild = "cpu"): Promise<string> {
  Deno.mkdirSync(CACHE, { recursive: true });
  const engine = makeNativeEngine({ cache: () => CACHE, build });
  // Test files run at the same time: one fetches, the others wait.
  using lock = Deno.openSync(`${CACHE}/lock`, { create: true, write: true });
  await lock.lock(true);
  return engine.found() ?? (await engine.fetch()).folder;
}

/** Files that one test process makes once; removed with it. */
export interface Workshop {
  readonly folder: string;
  readonly bundle: string;
  readonly addon: string;
}

let workshop: Promise<Workshop> | undefined;

/** The bundled program and a folder for weights. */
export function provideWorkshop(): Promise<Workshop> {
  workshop ??= makeWorkshop(new URL("../main.ts", import.meta.url).pathname);
  return workshop;
}

async function makeWorkshop(entry: string): Promise<Workshop> {
  const folder = await Deno.makeTempDir({ prefix: "remit-native-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const bundle = `${folder}/native.js`;
  await bundleProgram(entry, bundle);
  await Deno.mkdir(`${folder}/dd`);
  return { folder, bundle, addon: `${await provideAddon()}/llama-addon.node` };
}

/** Bundles a program as the command line does. */
export async function bundleProgram(entry: string, file: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--no-check", "--config", `${HOME}deno.json`]
      .concat("--platform", "deno", "--minify", "-o", file, entry),
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

/** The programs that the kernel would find. */
export function programs(): KernelConfig["programs"] {
  return { deno: Deno.execPath(), bwrap: "/usr/bin/bwrap", prlimit: "/usr/bin/prlimit" };
}

/** The kernel's command for a bundle in the namespace of the native engine. */
export function commandOf(
  { folder, addon }: Workshop,
  { bundle, weights, bytes, args: more = [], gpu }: {
    readonly bundle: string;
    readonly weights: string;
    readonly bytes: number;
    readonly args?: readonly string[];
    readonly gpu?: Gpu;
  },
): Deno.Command {
  makeSpawnPowers().keepFilters(folder);
  const bundles = { native: bundle } as KernelConfig["bundles"];
  const walls = {
    bwrap: true,
    filter: true,
    setpriv: false,
    nice: false,
    prlimit: true,
  } as Parameters<
    typeof lineOfNative
  >[1];
  const { program, args, env } = lineOfNative(
    { dir: folder, programs: programs(), bundles, denoDir: `${folder}/dd` },
    walls,
    { addon, weights, bytes, contextTokens: 4_096, ...(gpu === undefined ? {} : { gpu }) },
  );
  return new Deno.Command(program, {
    args: [...args, ...more],
    env: { ...env },
    clearEnv: true,
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
}

/** A process with one model in it. */
export interface NativeProcess extends AsyncDisposable {
  readonly port: Port;
  readonly model: LanguageModel;
  readonly pid: number;
  /** Path of the weights, outside the namespace. */
  readonly weights: string;
}

let files = 0;

/** Writes `weights` and opens them in a process of their own. */
export async function openNativeProcess(
  weights: Uint8Array,
  { kind = "gguf", ...more }: Readonly<Record<string, Json>> & { readonly kind?: string } = {},
): Promise<NativeProcess> {
  const shop = await provideWorkshop();
  const path = `${shop.folder}/${files++}.gguf`;
  await Deno.writeFile(path, weights, { mode: 0o600 });
  const config = {
    name: "tiny",
    weights: createHash("sha256").update(weights).digest("hex"),
    bytes: weights.length,
    engine: "native",
    ...more,
  };
  const process = startProcess(shop, path, weights.length);
  try {
    const info = ModelInfo.parse(
      await process.port.ask("open", {
        kind,
        ref: `${kind}:tiny`,
        config: JSON.stringify(config),
        native: { weights: NATIVE_WEIGHTS, addon: shop.addon },
      }),
    );
    return {
      ...process,
      weights: path,
      model: servedModel(process.port, info, process.chunks),
    };
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }
}

function startProcess(
  shop: Workshop,
  weights: string,
  bytes: number,
): { readonly port: Port; readonly pid: number; readonly chunks: Chunks } & AsyncDisposable {
  const chunks: Chunks = new Map();
  const child = commandOf(shop, { bundle: shop.bundle, weights, bytes }).spawn();
  const said = new Response(child.stderr).text();
  const piped = overPipes(child, { handler: hearing(chunks) });
  return {
    port: piped.port,
    pid: child.pid,
    chunks,
    async [Symbol.asyncDispose](): Promise<void> {
      await piped[Symbol.asyncDispose]();
      assert.equal(await piped.ended(), 0, await said);
    },
  };
}
