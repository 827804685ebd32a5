/**
 * The engine's package alone, used as its documentation does: the baseline for a local model.
 * Weights on standard input; a line of JSON for each run on standard output.
 * @module
 */
import wasm from "@wllama/wllama/esm/wasm/wllama.wasm" with { type: "bytes" };
import { Wllama } from "@wllama/wllama/esm/index.js";
import { lendGlobals } from "../engine_globals_powers.ts";

const [runs = "1", tokens = "64", prompt = ""] = Deno.args;
const parts: BlobPart[] = [];
for await (const chunk of Deno.stdin.readable) parts.push(chunk);
const lent = lendGlobals();
const quiet = (): void => {};
const wllama = new Wllama({ default: lent.url(wasm, "application/wasm") }, {
  cacheManager: Object.create(null),
  modelManager: Object.create(null),
  suppressNativeLog: true,
  logger: { debug: quiet, log: quiet, warn: quiet, error: quiet },
});
await wllama.loadModel([new Blob(parts)], {
  n_ctx: 4_096,
  n_threads: 1,
  n_gpu_layers: 0,
  n_parallel: 1,
  n_batch: 64,
  n_ubatch: 64,
  warmup: false,
});
for (let run = 0; run < Number(runs); run++) {
  const began = performance.now();
  let first = 0;
  let pieces = 0;
  await wllama.createChatCompletion({
    messages: [{ role: "user", content: prompt }],
    max_tokens: Number(tokens),
    temperature: 0,
    cache_prompt: true,
    stream: true,
    onData: ({ choices: [choice] }) => {
      if (typeof choice?.delta.content !== "string" || choice.delta.content === "") return;
      if (first === 0) first = performance.now();
      pieces += 1;
    },
  });
  const done = performance.now();
  const line = { firstMs: first - began, decodeMs: done - first, tokens: Number(tokens), pieces };
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}
Deno.exit(0);
