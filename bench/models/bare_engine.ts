/**
 * An engine and nothing around it, in a process of its own: run with `-A` and `wasm|native FILE ADDON
 * TOKENS`. For each line of standard input it decodes once, and writes tokens a second as a line. With `turn FILE ADDON
 * HELD NEW` it writes the milliseconds to the first token of a prompt of which it holds so many tokens, and so many are new.
 * @module
 */
import type { Addon } from "../../models/native/addon.ts";
import { CONTEXT, PROMPT } from "./decode_shape.ts";

const BATCH = 128;

/** Decodes so many tokens; milliseconds from the first to the last. */
type Decode = (tokens: number) => Promise<number>;

async function bareWasm(path: string): Promise<Decode> {
  const [{ lendGlobals }, { default: wasm }, { Wllama }] = await Promise.all([
    import("../../models/local/engine_globals_powers.ts"),
    import("@wllama/wllama/esm/wasm/wllama.wasm", { with: { type: "bytes" } }),
    import("@wllama/wllama/esm/index.js"),
  ]);
  const file = await Deno.readFile(path);
  using lent = lendGlobals();
  const quiet = (): void => {};
  const wllama = new Wllama({ default: lent.url(wasm, "application/wasm") }, {
    cacheManager: Object.create(null),
    modelManager: Object.create(null),
    logger: { debug: quiet, log: quiet, warn: quiet, error: quiet },
  });
  await wllama.loadModel([new Blob([file])], {
    ...{ n_ctx: CONTEXT, n_threads: 1, n_gpu_layers: 0, n_parallel: 1, n_batch: 64, n_ubatch: 64 },
    ...{ warmup: false, jinja: true, reasoning_format: "none", skip_chat_parsing: true },
  });
  return async (tokens) => {
    let first = 0;
    await wllama.createChatCompletion({
      messages: [{ role: "user", content: PROMPT }],
      max_tokens: tokens,
      temperature: 0,
      stream: true,
      onData: () => {
        if (first === 0) first = performance.now();
      },
    });
    return performance.now() - first;
  };
}

async function openNative(path: string, addonPath: string) {
  const { nativePowers } = await import("../../models/native/addon_powers.ts");
  const addon = await nativePowers.load(addonPath, { gpu: undefined, complain: () => {} });
  const model = new addon.AddonModel(path, {
    ...{ addonExports: addon, gpuLayers: 0, useMmap: true, vocabOnly: false },
  });
  await model.init();
  const context = new addon.AddonContext(model, {
    ...{ contextSize: CONTEXT, batchSize: BATCH, sequences: 1, threads: threadsOf(addon) },
    ...{ swaFullCache: true, embeddings: false },
  });
  await context.init();
  const sampler = new addon.AddonSampler(model);
  // Greedy, as the request is.
  sampler.applyConfig({ temperature: 0, topK: 40, topP: 0.95, minP: 0.05, seed: 1 });
  const next = async (at: number, read: Uint32Array): Promise<number> => {
    context.initBatch(read.length);
    const [logits = -1] = context.addToBatch(0, at, read, Uint32Array.of(read.length - 1));
    await context.decodeBatch();
    return await context.sampleToken(logits, sampler);
  };
  return { model, context, next };
}

async function bareNative(path: string, addonPath: string): Promise<Decode> {
  const { model, context, next } = await openNative(path, addonPath);
  const prompt = model.tokenize(PROMPT, true);
  return async (tokens) => {
    context.disposeSequence(0);
    let token = await next(0, prompt);
    const first = performance.now();
    for (let n = 1; n < tokens; n++) {
      model.detokenize(Uint32Array.of(token), true);
      token = await next(prompt.length + n - 1, Uint32Array.of(token));
    }
    return performance.now() - first;
  };
}

/** Milliseconds to the first token of a turn, all that came before it being in the engine's cache. */
async function bareTurn(path: string, addonPath: string, held: number): Promise<Decode> {
  const { model, context, next } = await openNative(path, addonPath);
  const word = model.tokenize("the", false)[0] ?? 0;
  const read = async (from: number, count: number): Promise<void> => {
    for (let at = from; at < from + count; at += BATCH) {
      await next(at, new Uint32Array(Math.min(BATCH, from + count - at)).fill(word));
    }
  };
  await read(0, held);
  return async (fresh) => {
    context.removeTokenCellsFromSequence(0, held, -1);
    const from = performance.now();
    await read(held, fresh);
    return performance.now() - from;
  };
}

/** As models/native/ does. */
function threadsOf(addon: Addon): number {
  return Math.max(1, Math.min(8, Math.floor(addon.getMathCores() / 2)));
}

const [kind, path = "", addon = "", tokens = "1", fresh = "1"] = Deno.args;
const turn = kind === "turn" ? await bareTurn(path, addon, Number(tokens)) : undefined;
const decode = turn ?? (kind === "wasm" ? await bareWasm(path) : await bareNative(path, addon));
const say = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(text));
say("ready\n");
for (const line = new Uint8Array(16); await Deno.stdin.read(line) !== null;) {
  if (turn === undefined) say(`${Number(tokens) / await decode(Number(tokens)) * 1_000}\n`);
  else say(`${await turn(Number(fresh))}\n`);
}
Deno.exit(0);
