/**
 * Local models in their real processes: decoding against the bare engine, a fork of a prefix against
 * reading it again, and whether every call of random weights is valid.
 * @module
 */
import type { ChatMessage } from "../contracts/model/mod.ts";
import type { OpenModel } from "../kernel/power/model/services.ts";
import { CONTEXT, type DecodeLoad, LOADS, PROMPT } from "./models/decode_shape.ts";
import { startLineProcess } from "./_line_process.ts";
import { type BenchModels, makeBenchModels, NEVER, question } from "./models/service.ts";
import { median } from "./quantile.ts";
import type { Row } from "./row.ts";
import { timed } from "./world.ts";

const ROUNDS = 7;
/** The part of the bare engine's speed that must be left. */
const LEAST_SHARE = 0.95;
const FORKS = 15;
const PREFIX_TOKENS = 1_024;
/** Tokens of a short answer. */
const ANSWER_TOKENS = 16;
/** How long a person reads an answer, or a tool takes. */
const READS_MS = 3_000;
const TURNS = 7;
/** What time to the first token of a second turn may be of the bare engine's with a warm cache. */
const MOST_SECOND = 1.2;

/** Gives the rows of both engines; the native one only where its addon was fetched before. */
export async function localBench(): Promise<Row[]> {
  await using models = await makeBenchModels(["local", "native"]);
  const rows: Row[] = [];
  {
    for (const load of LOADS) rows.push(await decoding(models, "wasm", load));
  }
  if (models.addon === undefined) return [...rows, missing("native: not here (never fetched)")];
  {
    for (const load of LOADS) rows.push(await decoding(models, "native", load));
  }
  rows.push(await forking(models));
  rows.push(await secondTurn(models, ANSWER_TOKENS), await secondTurn(models, 4 * ANSWER_TOKENS));
  return rows;
}

function missing(name: string): Row {
  return { name, value: 0, unit: "", baseline: 0, ratio: 0, target: "shown", ok: true };
}

async function opened(
  { services, keep }: BenchModels,
  engine: "wasm" | "native",
  weights: Uint8Array,
): Promise<OpenModel> {
  return await services.provide({ ref: "gguf:tiny", config: await keep(weights, engine) });
}

async function decoding(
  models: BenchModels,
  engine: "wasm" | "native",
  load: DecodeLoad,
): Promise<Row> {
  const weights = load.weights();
  const file = `${models.world.dir}/bare.gguf`;
  await Deno.writeFile(file, weights);
  await using bare = await startLineProcess([
    new URL("./models/bare_engine.ts", import.meta.url).pathname,
    ...[engine, file, `${models.addon}/llama-addon.node`, `${load.tokens}`],
  ], { yields: (await models.world.children()).walls().nice });
  const model = await opened(models, engine, weights);
  const pairs: { readonly ours: number; readonly bare: number }[] = [];
  // In turns, and the middle of the ratios of neighbours: the machine is as busy for both.
  for (let round = -2; round < ROUNDS; round++) {
    const pair = { ours: await speedOf(model, load.tokens), bare: Number(await bare.ask()) };
    if (round >= 0) pairs.push(pair);
  }
  model.release();
  const ratio = median(pairs.map((pair) => pair.ours / pair.bare));
  return {
    name: `decoding, ${engine}, weights of ${load.size}, against the bare engine`,
    value: median(pairs.map(({ ours }) => ours)),
    unit: "tokens/s",
    baseline: median(pairs.map((pair) => pair.bare)),
    ratio,
    target: load.toy ? "shown" : `≥ ${LEAST_SHARE}×`,
    ok: load.toy || ratio >= LEAST_SHARE,
  };
}

/** Tokens a second from the first piece of text to the answer. */
async function speedOf(model: OpenModel, tokens: number): Promise<number> {
  let first = 0;
  const { usage } = await model.infer(question(PROMPT, { maxTokens: tokens, temperature: 0 }), {
    signal: NEVER,
    onChunk: () => {
      if (first === 0) first = performance.now();
    },
  });
  return usage.outputTokens / (performance.now() - first) * 1_000;
}

/** One token after a prefix that another conversation began with, and after one that none did. */
async function forking(models: BenchModels): Promise<Row> {
  const weights = LOADS.find(({ size }) => size === "14 MB")?.weights() ?? new Uint8Array();
  const model = await opened(models, "native", weights);
  const words = (word: string, count: number): string => `${word} `.repeat(count);
  const ask = (content: string): Promise<number> =>
    timed(() => model.infer(question(content, { maxTokens: 1 }), { signal: NEVER, onChunk() {} }));
  const prefix = words("the", PREFIX_TOKENS + 20);
  const [forked, read]: [number[], number[]] = [[], []];
  for (let n = -2; n < FORKS; n++) {
    // The first of two conversations goes its own way: its sequence is copied for the second.
    await ask(`${prefix}${words("file", 160)}${n + 2}`);
    const fork = await ask(`${prefix}path ${n + 2}`);
    const fresh = await ask(`${n + 2} ${prefix}path`);
    if (n < 0) continue;
    forked.push(fork);
    read.push(fresh);
  }
  const { info } = model;
  model.release();
  if (info.contextTokens !== CONTEXT) throw new Error("the context is not what was measured");
  const [value, baseline] = [median(forked), median(read)];
  return {
    name: `fork of a prefix of ${PREFIX_TOKENS} tokens, against reading it again`,
    ...{ value, unit: "ms", baseline, ratio: value / baseline, target: "≤ 0.5×" },
    ok: value <= baseline * 0.5,
  };
}

/**
 * Time to the first token of a conversation's second turn, against the bare engine that holds all before the new words
 * in its cache, the answer too.
 */
async function secondTurn(models: BenchModels, answer: number): Promise<Row> {
  const weights = LOADS.find(({ size }) => size === "100 MB")?.weights() ?? new Uint8Array();
  const model = await opened(models, "native", weights);
  const began = question("the path of the file ".repeat(120));
  const infer = (messages: readonly ChatMessage[], maxTokens: number) =>
    model.infer({ ...began, messages: [...messages], maxTokens, temperature: 0 }, {
      signal: NEVER,
      onChunk() {},
    });
  const of = (role: "assistant" | "user", content: string): ChatMessage => ({
    ...{ role, content },
    provenance: { origin: "model", colour: "BLUE", label: "internal" },
  });
  const first = await infer(began.messages, answer);
  // Each round asks something else: no round finds what the round before it left.
  const turns = Array.from({ length: TURNS + 1 }, (_, n) => [
    ...began.messages,
    of("assistant", first.message.content),
    of("user", `${n} and the name of that path, with the folder that it lies in`),
  ]);
  const { usage } = await infer(turns[0] ?? [], 1);
  const fresh = usage.inputTokens - first.usage.inputTokens - first.usage.outputTokens;
  const file = `${models.world.dir}/turn.gguf`;
  await Deno.writeFile(file, weights);
  const held = first.usage.inputTokens + first.usage.outputTokens;
  await using bare = await startLineProcess([
    new URL("./models/bare_engine.ts", import.meta.url).pathname,
    ...["turn", file, `${models.addon}/llama-addon.node`, `${held}`, `${Math.max(1, fresh)}`],
  ], { yields: (await models.world.children()).walls().nice });
  const pairs: { readonly ours: number; readonly bare: number }[] = [];
  for (const messages of turns.slice(1)) {
    // As in a conversation: the first turn was the last thing that this model did, and somebody reads its answer.
    await infer(began.messages, answer);
    await new Promise((resolve) => setTimeout(resolve, READS_MS));
    const ours = await timed(() => infer(messages, 1));
    pairs.push({ ours, bare: Number(await bare.ask()) });
  }
  model.release();
  const ratio = median(pairs.map((pair) => pair.ours / pair.bare));
  return {
    name: `first token of turn 2, ${held} tokens before it and ${fresh} new`,
    ...{ unit: "ms", value: median(pairs.map(({ ours }) => ours)) },
    ...{ baseline: median(pairs.map((pair) => pair.bare)), ratio },
    ...{ target: `≤ ${MOST_SECOND}×`, ok: ratio <= MOST_SECOND },
  };
}
